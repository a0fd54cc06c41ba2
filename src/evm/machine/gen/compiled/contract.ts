import { i32, i64 } from "../../../../base/wasm/code.ts";
import { call, FunctionBuilder, type FunctionRef } from "../../../../base/wasm/function.ts";
import { ModuleBuilder } from "../../../../base/wasm/module.ts";
import { exit } from "../../halts.ts";
import { BLOCK_MASK, BLOCKS_MAX, mapCode } from "../../memory/code-map.ts";
import { frame, globals, STACK_WORDS_MAX, WORD } from "../../memory/layout.ts";
import { type Opcode, opcodesOf } from "../../opcodes.ts";
import type { Rules } from "../../rules.ts";
import { takeSlice } from "../loop.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { OpcodeFunctions } from "./opcode-functions.ts";
import { OperandStack } from "./operand-stack.ts";
import { type ContractParts, emitPart, type Part, type PartRange } from "./part.ts";
import { Path, type PathHead } from "./path.ts";
import { importRuntime, runtimeSignatures } from "./runtime-links.ts";

/** Blocks of one function: V8's time for a function grows faster than its size. */
const PART_BLOCKS = 12;
/** Bytes of code after which a path goes on in no other block; fewer where there are many blocks. */
const PATH_BYTES_MAX = 400;
const PATH_BYTES_MIN = 96;
/** Bytes of code in all paths, for each byte of the contract and besides. */
const PATHS_PER_BYTE = 2;
const PATHS_BYTES = 8192;
/** Words a path may push, unless the opcodes after its head push more. */
const ROOM_MIN = 64;

/** Bytes of one emitted function and of a module: V8 takes a second for the largest function. */
const FUNCTION_BYTES_MAX = 512 * 1024;
const MODULE_BYTES_MAX = 4 * 1024 * 1024;

type ContractOptions = { readonly leavesAtBorders?: boolean };

/** Emits contracts under one set of rules as WebAssembly modules. */
export class ContractEmitter {
  readonly #opcodes: readonly (Opcode | undefined)[];
  readonly #signatures: Runtime;

  constructor(rules: Rules) {
    this.#opcodes = opcodesOf(rules.hardfork);
    this.#signatures = runtimeSignatures(rules);
  }

  /**
   * A module whose `run()` goes on with the frame whose registers are in linear memory, as the interpreter's does, from the
   * block at `frame.pc`; the frame's code is `code`. `exit.border`: the interpreter goes on, for there is no path that begins
   * here, or bounds of the stack are near.
   *
   * undefined: the module would become too large to be worth it.
   */
  emit(code: Uint8Array, { leavesAtBorders = false }: ContractOptions = {}): Uint8Array<ArrayBuffer> | undefined {
    const map = mapCode(code, this.#opcodes);
    if (map.starts.length > BLOCKS_MAX) return undefined;
    const module = new ModuleBuilder();
    const { runtime, direct } = importRuntime(module, this.#signatures);
    const functions = new OpcodeFunctions(module, direct);
    const share = Math.ceil((PATHS_PER_BYTE * code.length + PATHS_BYTES) / map.starts.length);
    const pathBytes = Math.min(PATH_BYTES_MAX, Math.max(PATH_BYTES_MIN, share));
    const shared = { runtime, functions, map, leavesAtBorders, pathBytes };
    const blocks = leavesAtBorders ? map.starts.map((_, block) => block) : blocksWithPath(shared);
    if (blocks === undefined) return undefined;
    const parts = emitParts(module, shared, rangesOf(blocks, map.starts.length));
    if (parts === undefined) return undefined;
    module.export(
      "run",
      module.define([], ["i32"], (f) => emitRun(f, parts)),
    );
    return module.bytes();
  }
}

type PartFunction = { readonly end: number; readonly run: FunctionRef };

function emitParts(
  module: ModuleBuilder,
  shared: Omit<ContractParts, "require">,
  ranges: readonly PartRange[],
): PartFunction[] | undefined {
  const parts: PartFunction[] = [];
  let total = 0;
  for (const range of ranges) {
    let size = 0;
    const run = module.define(["i32"], ["i32"], (f, target) => {
      emitPart(f, target!, { ...shared, require: () => {} }, range, emitPath);
      size = f.position;
    });
    total += size;
    if (size > FUNCTION_BYTES_MAX || total > MODULE_BYTES_MAX) return undefined;
    parts.push({ end: range.end, run });
  }
  return parts;
}

/**
 * Blocks to which control comes other than on the path of another: the beginning, what follows calls, where paths end, and
 * destinations that paths leave on the stack. Found by emitting their paths; undefined when that becomes too much.
 */
function blocksWithPath(shared: Omit<ContractParts, "require">): number[] | undefined {
  const found = new Set([0]);
  const require = (block: number) => found.add(block);
  let total = 0;
  // The set grows while it is walked.
  for (const block of found) {
    const f = new FunctionBuilder({ params: ["i32"], results: ["i32"] });
    const range = { first: block, end: block + 1, blocks: [block] };
    emitPart(f, f.params[0]!, { ...shared, require }, range, emitPath);
    total += f.position;
    if (total > MODULE_BYTES_MAX) return undefined;
  }
  return [...found].sort((a, b) => a - b);
}

function rangesOf(blocks: readonly number[], count: number): PartRange[] {
  const ranges: PartRange[] = [];
  for (let i = 0; i < blocks.length; i += PART_BLOCKS) {
    ranges.push({
      first: ranges.at(-1)?.end ?? 0,
      end: blocks[i + PART_BLOCKS] ?? count,
      blocks: blocks.slice(i, i + PART_BLOCKS),
    });
  }
  return ranges;
}

/** Goes from part to part: each answers the block that follows in another one, or −1 less how the frame was left. */
function emitRun(f: FunctionBuilder, parts: readonly PartFunction[]): void {
  const offset = i32.sub(i32.load(frame.pc), i32.load(frame.code));
  const entry = f.i32(i32.load16(i32.add(i32.load(frame.blocks), i32.shl(offset, 1))));
  f.if(i32.eqz(entry), () => f.return(i32.of(exit.border)));
  const next = f.i32(i32.sub(i32.and(entry, BLOCK_MASK), 1));
  const gas = f.i64(i64.load(frame.gas));
  takeSlice(f, gas);
  f.do(i64.store(frame.gas, gas));
  const callPart = (from: number, to: number): void => {
    if (to - from === 1) {
      f.set(next, call(parts[from]!.run, next));
      return;
    }
    const middle = (from + to) >> 1;
    f.if(
      i32.ltU(next, parts[middle - 1]!.end),
      () => callPart(from, middle),
      () => callPart(middle, to),
    );
  };
  f.loop((again) => {
    callPart(0, parts.length);
    f.brIf(again, i32.eqz(i32.ltS(next, 0)));
  });
  f.do(i64.store(frame.gas, i64.add(i64.load(frame.gas), i64.load(globals.reserve))));
  f.return(i32.sub(-1, next));
}

/** The path that begins at a block, with the check of gas and of the stack for all of it at its head. */
function emitPath(part: Part, block: number): void {
  const { f, loop, base, references, map } = part;
  // The module is thrown away; this is how a hostile contract does not keep the thread for long.
  if (f.position > FUNCTION_BYTES_MAX) return;
  const offset = map.starts[block]!;
  f.repeat((again) => {
    const head: PathHead = {
      block,
      again,
      isRepeated: false,
      heightMin: 0,
      heightMax: STACK_WORDS_MAX,
      room: Math.max(ROOM_MIN, map.growthOf(block)),
      bytesLeft: part.pathBytes,
    };
    const begin = f.position;
    const onStored = (value: bigint): void => {
      if (map.isDestination(Number(value))) part.require(map.blockAt.get(Number(value))!);
    };
    const stack = new OperandStack(f, base, head.room, { references, onStored });
    f.scope(() => new Path(part, head, stack).emit(offset));
    stack.end();
    f.insertAt(begin, () => {
      const { heightMin, heightMax } = head;
      const height = i32.sub(i32.load(frame.stackBase), loop.sp);
      const span = (heightMax - heightMin) * WORD;
      const isOutside = span < 0 ? 1 : i32.gtU(i32.sub(height, heightMin * WORD), span);
      f.if(i32.or(isOutside, i64.ltS(loop.gas, 0n)), () => {
        f.set(loop.pc, offset);
        f.br(part.atHead);
      });
      f.set(base, i32.sub(loop.sp, head.room * WORD));
    });
    return head.isRepeated;
  });
}
