import { i32, i64, type Local } from "../../../wasm/code.ts";
import { call, type FunctionBuilder, type FunctionRef } from "../../../wasm/function.ts";
import { ModuleBuilder } from "../../../wasm/module.ts";
import { exit, haltCode } from "../../halts.ts";
import { frame, globals, STACK_WORDS_MAX, WORD } from "../../memory/layout.ts";
import { opcodesOf } from "../../opcodes.ts";
import type { Rules } from "../../rules.ts";
import { takeSlice } from "../loop.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { BLOCK_MASK, BLOCKS_MAX, type CodeMap, mapCode } from "./code-map.ts";
import { OperandStack } from "./operand-stack.ts";
import { type Part, StraightLine, setPc } from "./part.ts";
import { Path, type PathHead } from "./path.ts";
import { importRuntime } from "./runtime-links.ts";

/** Blocks of one function: V8's time for a function grows faster than its size. */
const PART_BLOCKS = 24;
/** Bytes of code after which a path goes on in no other block; fewer where there are many blocks. */
const PATH_BYTES_MAX = 400;
const PATH_BYTES_MIN = 96;
/** Bytes of a contract's code that paths may repeat, besides all of it twice. */
const REPEATED_BYTES = 4096;
/** Words a path may push, unless the opcodes after its head push more. */
const ROOM_MIN = 64;

/**
 * Bytes of one emitted function and of a module. V8 takes a second for the largest function, and emitted code is usually 30 times as
 * long as the contract's.
 */
const FUNCTION_BYTES_MAX = 512 * 1024;
const MODULE_BYTES_MAX = 4 * 1024 * 1024;

export type ContractOptions = { readonly leavesAtBorders?: boolean };

/**
 * A contract as a WebAssembly module. `run()` goes on with the frame whose registers are in linear memory, as the
 * interpreter's does, from the block at `frame.pc`; the frame's code is this contract's. `exit.border`: the interpreter
 * goes on, for it is no beginning of a block, or bounds of the stack are near.
 *
 * undefined: the code would become a module too large to be worth it.
 */
export function emitContract(
  code: Uint8Array,
  rules: Rules,
  { leavesAtBorders = false }: ContractOptions = {},
): Uint8Array<ArrayBuffer> | undefined {
  const module = new ModuleBuilder();
  const runtime = importRuntime(module, rules);
  const map = mapCode(code, opcodesOf(rules.hardfork));
  if (map.starts.length > BLOCKS_MAX) return undefined;
  const budget = { bytes: 2 * code.length + REPEATED_BYTES };
  const share = Math.ceil((2 * budget.bytes) / map.starts.length);
  const pathBytes = Math.min(PATH_BYTES_MAX, Math.max(PATH_BYTES_MIN, share));
  const parts: { readonly end: number; readonly run: FunctionRef }[] = [];
  let total = 0;
  for (let first = 0; first < map.starts.length; first += PART_BLOCKS) {
    const end = Math.min(first + PART_BLOCKS, map.starts.length);
    let size = 0;
    const run = module.define(["i32"], ["i32"], (f, target) => {
      emitPart(f, target!, { runtime, map, first, end, leavesAtBorders, budget, pathBytes });
      size = f.position;
    });
    total += size;
    if (size > FUNCTION_BYTES_MAX || total > MODULE_BYTES_MAX) return undefined;
    parts.push({ end, run });
  }
  module.export(
    "run",
    module.define([], ["i32"], (f) => emitRun(f, parts)),
  );
  return module.bytes();
}

/** Goes from part to part: each answers the block that follows in another one, or −1 less how the frame was left. */
function emitRun(
  f: FunctionBuilder,
  parts: readonly { readonly end: number; readonly run: FunctionRef }[],
): void {
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

type PartOptions = Pick<
  Part,
  "runtime" | "map" | "first" | "end" | "leavesAtBorders" | "budget" | "pathBytes"
> & { readonly runtime: Runtime; readonly map: CodeMap };

function emitPart(f: FunctionBuilder, target: Local, options: PartOptions): void {
  const pc = f.i32(0);
  const sp = f.i32(i32.load(frame.sp));
  const gas = f.i64(i64.load(frame.gas));
  const memory = f.i32(i32.load(frame.memory));
  const memorySize = f.i64(i64.load32(frame.memorySize));
  const blocks = f.i32(i32.load(frame.blocks));
  const status = f.i32(exit.halt);
  const base = f.local("i32");
  const { first, end, runtime } = options;
  const saveRegisters = () => f.do(i32.store(frame.sp, sp), i64.store(frame.gas, gas));
  f.block((leave) => {
    f.block((outOfGas) => {
      f.block((elsewhere) => {
        f.loop((dispatch) => {
          const labels = [];
          for (let block = end - 1; block >= first; block--) labels.unshift(f.openBlock());
          f.brTable(i32.sub(target, first), labels, elsewhere);
          const registers = { pc, sp, gas, memory, memorySize, status };
          const loop = new StraightLine(f, runtime, "fast", registers, {
            dispatch,
            enter: dispatch,
            leave,
            outOfGas,
          });
          const references = new Map<number, number>();
          const part = {
            ...options,
            f,
            loop,
            base,
            target,
            blocks,
            labels,
            dispatch,
            elsewhere,
            references,
          };
          for (let block = first; block < end; block++) {
            f.end();
            // The function is thrown away; this is how a hostile contract does not keep the thread for long.
            if (f.position > FUNCTION_BYTES_MAX) continue;
            emitBlock(part, block);
          }
        });
        f.unreachable();
      });
      saveRegisters();
      f.return(i32.of(target));
    });
    f.set(status, exit.halt);
    f.if(i32.eqz(i32.load(globals.halt)), () => f.do(i32.store(globals.halt, haltCode.outOfGas)));
  });
  saveRegisters();
  f.do(i32.store(frame.pc, pc));
  f.return(i32.sub(-1, status));
}

/** The path that begins at a block, with the check of the stack for all of it at its head. */
function emitBlock(part: Part, block: number): void {
  const { f, loop, base, references } = part;
  const offset = part.map.starts[block]!;
  f.repeat((again) => {
    const head: PathHead = {
      block,
      again,
      isRepeated: false,
      heightMin: 0,
      heightMax: STACK_WORDS_MAX,
      room: Math.max(ROOM_MIN, part.map.growthOf(block)),
      bytesLeft: part.pathBytes,
    };
    const begin = f.position;
    const stack = new OperandStack(f, base, head.room, references);
    f.scope(() => new Path(part, head, stack).emit(offset));
    stack.end();
    f.insertAt(begin, () => {
      const { heightMin, heightMax } = head;
      const height = i32.sub(i32.load(frame.stackBase), loop.sp);
      const isWithin = heightMin <= heightMax;
      f.if(
        isWithin ? i32.gtU(i32.sub(height, heightMin * WORD), (heightMax - heightMin) * WORD) : 1,
        () => {
          setPc(part, offset);
          loop.exit(exit.border);
        },
      );
      f.set(base, i32.sub(loop.sp, head.room * WORD));
    });
    return head.isRepeated;
  });
}
