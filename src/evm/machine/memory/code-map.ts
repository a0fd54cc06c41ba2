import { type Opcode, opcodeAt } from "../opcodes.ts";
import { writeSegments } from "./analyse.ts";
import { STACK_WORDS_MAX, WORD } from "./layout.ts";

const JUMP = 0x56;
const JUMPDEST = 0x5b;

/** Entries of a block table: the number of the block plus 1, with this bit where no jump may go. */
const RESUME_ONLY = 0x8000;
export const BLOCK_MASK = 0x7fff;
/** Of one contract: each has a case in a table of jumps, and most contracts have some hundred. */
export const BLOCKS_MAX = 8192;

/** Stack bounds of the run of opcodes that begins at an offset; see `./analyse.ts`. */
type Segment = {
  /** Words the stack must hold */
  readonly need: number;
  /** Words it grows by at most; undefined: no stack has room for it */
  readonly growth: number | undefined;
};

/** Where blocks begin in one contract, and the segments of its code. */
export type CodeMap = {
  readonly code: Uint8Array;
  readonly opcodes: readonly (Opcode | undefined)[];
  /** Offsets, ascending: 0, each JUMPDEST, and what follows an opcode after which the driver takes over */
  readonly starts: readonly number[];
  /** Number of the block that begins at an offset */
  readonly blockAt: ReadonlyMap<number, number>;
  isDestination(offset: number): boolean;
  /** Words that the opcodes of a block push at most, up to where it ends or the next block begins */
  growthOf(block: number): number;
  /** The segment that begins at `offset` */
  segmentAt(offset: number): Segment;
  /** If only a few opcodes and then a revert or a halt can follow `offset`: the number of stack words that they read */
  failureAt(offset: number): number | undefined;
};

/** Numbers the blocks of `code`; the same for the emitter and for `writeBlocks`. */
export function mapCode(code: Uint8Array, opcodes: readonly (Opcode | undefined)[]): CodeMap {
  const starts = [...blockStarts(code, opcodes)];
  const table = new Uint32Array(2 * (code.length + 1));
  writeSegments(code, opcodes, table);
  const destinations = new Set(starts.filter((offset) => code[offset] === JUMPDEST));
  const isDestination = (offset: number) => destinations.has(offset);
  return {
    code,
    opcodes,
    starts,
    blockAt: new Map(starts.map((offset, index) => [offset, index])),
    isDestination,
    failureAt: (offset) => wordsReadUntilFailure(code, opcodes, isDestination, offset),
    growthOf: (block) => growthBetween(code, opcodes, starts[block]!, starts[block + 1]),
    segmentAt(offset) {
      const bounds = table[2 * offset + 1]!;
      const need = (bounds & 0xffff) / WORD;
      const isPossible = (bounds & 0xffff) !== 0xffff;
      const growth = isPossible ? STACK_WORDS_MAX - need - (bounds >>> 16) / WORD : undefined;
      return { need, growth };
    },
  };
}

function wordsReadUntilFailure(
  code: Uint8Array,
  opcodes: readonly (Opcode | undefined)[],
  isDestination: (offset: number) => boolean,
  begin: number,
): number | undefined {
  let height = 0;
  let need = 0;
  let pushed: number | undefined;
  for (let pc = begin, count = 0; count < FAILURE_OPCODES_MAX; count++) {
    const opcode = pc < code.length ? opcodeAt(opcodes, code, pc) : opcodes[0];
    if (opcode === undefined) return need;
    const { name, pops, pushes, kind, immediate: length } = opcode;
    need = Math.max(need, pops - height);
    height += pushes - pops;
    if (name === "REVERT") return need;
    if (name === "JUMP") {
      if (pushed === undefined || !isDestination(pushed)) return undefined;
      pc = pushed;
      continue;
    }
    if (kind === "halt" || name === "JUMPI" || STATEFUL.test(name)) return undefined;
    pushed = name.startsWith("PUSH") && length <= 3 ? numberAt(code, pc + 1, length) : undefined;
    pc += 1 + length;
  }
  return undefined;
}
/** The longest way to a revert that is left to the interpreter */
const FAILURE_OPCODES_MAX = 100;
const STATEFUL = /CALL$|CALLCODE|^CREATE|^[ST](LOAD|STORE)|^LOG/;

function numberAt(code: Uint8Array, begin: number, length: number): number {
  return code.subarray(begin, begin + length).reduce((value, byte) => value * 256 + byte, 0);
}

function growthBetween(
  code: Uint8Array,
  opcodes: readonly (Opcode | undefined)[],
  begin: number,
  end = code.length,
): number {
  let height = 0;
  let most = 0;
  for (let pc = begin; pc < end; ) {
    const opcode = opcodeAt(opcodes, code, pc);
    if (opcode === undefined) break;
    height += opcode.pushes - opcode.pops;
    most = Math.max(most, height);
    if (opcode.kind === "halt" || opcode.code === JUMP) break;
    pc += 1 + opcode.immediate;
  }
  return most;
}

/** Writes for each offset of `code` which block begins there; 0 where none does. */
export function writeBlocks(code: Uint8Array, opcodes: readonly (Opcode | undefined)[], table: Uint16Array): void {
  let block = 0;
  for (const offset of blockStarts(code, opcodes)) {
    block++;
    table[offset] = code[offset] === JUMPDEST ? block : block | RESUME_ONLY;
  }
}

function* blockStarts(code: Uint8Array, opcodes: readonly (Opcode | undefined)[]): Generator<number> {
  let isStart = true;
  for (let pc = 0; pc < code.length; ) {
    const op = code[pc]!;
    if (isStart || op === JUMPDEST) yield pc;
    const opcode = opcodeAt(opcodes, code, pc);
    isStart = isLeaving(opcode);
    pc += 1 + (opcode?.immediate ?? 0);
  }
}

/** After these the driver runs another frame and comes back. */
export function isLeaving(opcode: Opcode | undefined): boolean {
  return opcode !== undefined && LEAVING.has(opcode.name);
}
const LEAVING = new Set(["CALL", "CALLCODE", "DELEGATECALL", "STATICCALL", "CREATE", "CREATE2"]);
