import type { Address } from "../../../base/primitives/address.ts";
import type { Halt } from "../halts.ts";
import { frame, globals, record, request } from "../memory/layout.ts";
import type { LinearMemory } from "../memory/linear-memory.ts";
import { CALL, CALLCODE, CREATE, CREATE2, DELEGATECALL, STATICCALL } from "../opcodes.ts";
import type { FrameEnd, FrameStart, FrameTracer } from "../tracer.ts";

/** SELFDESTRUCT appears as a separate frame that ends at once. */
export const SELFDESTRUCT = 0xff;

/** What tracers show of the opcode that began a frame. */
export const FRAME_TYPES: Readonly<Record<number, FrameStart["type"]>> = {
  [CREATE]: "CREATE",
  [CALL]: "CALL",
  [CALLCODE]: "CALLCODE",
  [DELEGATECALL]: "DELEGATECALL",
  [CREATE2]: "CREATE2",
  [STATICCALL]: "STATICCALL",
  [SELFDESTRUCT]: "SELFDESTRUCT",
};

/** Fields of a row, in words of 32 bits; two for gas, eight for value. */
const field = {
  opcode: 0,
  depth: 1,
  from: 2,
  to: 3,
  input: 4,
  inputSize: 5,
  output: 6,
  outputSize: 7,
  gas: 8,
  gasUsed: 10,
  outcome: 12,
  value: 16,
} as const;

const ROW = 24;
/** Rows that are allocated together: 12 KiB, and nothing is copied when there are more. */
const CHUNK_SHIFT = 7;
const CHUNK_ROWS = 1 << CHUNK_SHIFT;
/** The first chunk begins with fewer and doubles: most executions have a frame or two, and V8 collects all garbage on account of memory outside its heap. */
const FIRST_ROWS = 4;
const DATA_WORDS_MIN = 1 << 6;

/** Up to here a loop takes less time than the view that `set` needs. */
const LOOP_BYTES_MAX = 256;

const OUTCOMES: readonly FrameEnd["outcome"][] = ["success", "revert", "halt"];

/**
 * The frames of one execution, each a row of numbers, decoded when it is read. Passing objects, bigints and copies to hooks costs as much as
 * the call or more; a row costs a fifth of that (bench/evm/tracing.ts).
 */
export class FrameTable implements FrameTracer {
  #onBytes: (count: number) => void;
  readonly #chunks: Uint32Array[] = [];
  #length = 0;
  /** Inputs and outputs, each from the beginning of a word. */
  #data = uninitialized(DATA_WORDS_MIN);
  #dataWords = 0;
  /** Indices of the frames that have not ended, by depth. */
  readonly #open: number[] = [];
  readonly #halts = new Map<number, Halt>();
  /** The address of an account's record. */
  #addressOf: ((account: number) => Address) | undefined;

  /** @param onBytes called with the bytes of each input and output before they are copied; if it throws, the execution ends */
  constructor(onBytes: (count: number) => void) {
    this.#onBytes = onBytes;
  }

  get length(): number {
    return this.#length;
  }

  /** Of all rows and data that there is room for. */
  get byteLength(): number {
    return this.#chunks.reduce((bytes, { byteLength }) => bytes + byteLength, this.#data.byteLength);
  }

  /** Forgets everything, and begins with another execution. @param onBytes as of the constructor */
  reset(onBytes: (count: number) => void): void {
    this.#onBytes = onBytes;
    this.#length = 0;
    this.#dataWords = 0;
    this.#open.length = 0;
    if (this.#halts.size > 0) this.#halts.clear();
    this.#addressOf = undefined;
  }

  enter(memory: LinearMemory, depth: number): void {
    const { u32 } = memory;
    const inputSize = u32[request.inputSize >>> 2]!;
    const input = this.#copy(memory, u32[request.input >>> 2]!, inputSize);
    this.#open[depth] = this.#length;
    const rows = this.#last();
    const at = this.#add(rows, depth, u32[request.opcode >>> 2]!);
    rows[at + field.from] = u32[frame.account >>> 2]!;
    rows[at + field.to] = u32[request.target >>> 2]!;
    rows[at + field.input] = input;
    rows[at + field.inputSize] = inputSize;
    rows[at + field.gas] = u32[request.gas >>> 2]!;
    rows[at + field.gas + 1] = u32[(request.gas >>> 2) + 1]!;
    for (let i = 0; i < 8; i++) rows[at + field.value + i] = u32[(request.value >>> 2) + i]!;
  }

  exit(
    memory: LinearMemory,
    depth: number,
    outcome: FrameEnd["outcome"],
    output: number,
    outputSize: number,
    halt: Halt | undefined,
  ): void {
    const { u32 } = memory;
    const copied = this.#copy(memory, output, outputSize);
    const index = this.#open[depth]!;
    const rows = this.#chunks[index >>> CHUNK_SHIFT]!;
    const at = (index % CHUNK_ROWS) * ROW;
    rows[at + field.output] = copied;
    rows[at + field.outputSize] = outputSize;
    const low = rows[at + field.gas]! - u32[globals.gasBack >>> 2]!;
    rows[at + field.gasUsed] = low;
    rows[at + field.gasUsed + 1] = rows[at + field.gas + 1]! - u32[(globals.gasBack >>> 2) + 1]! - (low < 0 ? 1 : 0);
    rows[at + field.outcome] = outcome === "success" ? 0 : outcome === "revert" ? 1 : 2;
    if (halt !== undefined) this.#halts.set(index, halt);
  }

  selfDestruct(memory: LinearMemory, depth: number, target: number): void {
    this.#onBytes(0);
    const account = memory.get32(frame.account);
    const rows = this.#last();
    const at = this.#add(rows, depth, SELFDESTRUCT);
    rows[at + field.from] = account;
    rows[at + field.to] = target;
    for (let i = 0; i < 8; i++) {
      rows[at + field.value + i] = memory.u32[((account + record.value) >>> 2) + i]!;
    }
  }

  end(addressOf: (account: number) => Address): void {
    this.#addressOf = addressOf;
  }

  /** Frame `index` in the order in which they began, once the execution is over. Bytes are views of the table. */
  at(index: number): {
    readonly depth: number;
    readonly start: FrameStart;
    readonly end: FrameEnd;
  } {
    const rows = this.#chunks[index >>> CHUNK_SHIFT]!;
    const at = (index % CHUNK_ROWS) * ROW;
    const halt = this.#halts.get(index);
    const end = {
      gasUsed: numberIn(rows, at + field.gasUsed, 2),
      output: this.#view(rows, at + field.output),
      outcome: OUTCOMES[rows[at + field.outcome]!]!,
    };
    return {
      depth: rows[at + field.depth]!,
      start: {
        type: FRAME_TYPES[rows[at + field.opcode]!]!,
        from: this.#addressOf!(rows[at + field.from]!),
        to: this.#addressOf!(rows[at + field.to]!),
        value: numberIn(rows, at + field.value, 8),
        gas: numberIn(rows, at + field.gas, 2),
        input: this.#view(rows, at + field.input),
      },
      end: halt === undefined ? end : { ...end, halt },
    };
  }

  /** The chunk of the next row, with room for it. */
  #last(): Uint32Array {
    const chunk = this.#length >>> CHUNK_SHIFT;
    const rows = this.#chunks[chunk];
    const used = (this.#length % CHUNK_ROWS) * ROW;
    if (rows !== undefined && used < rows.length) return rows;
    const room = chunk > 0 ? CHUNK_ROWS : rows === undefined ? FIRST_ROWS : (2 * rows.length) / ROW;
    const made = uninitialized(room * ROW);
    if (rows !== undefined) made.set(rows);
    this.#chunks[chunk] = made;
    return made;
  }

  /** First word of a new row of a frame that has no input, output, gas and value yet. */
  #add(rows: Uint32Array, depth: number, opcode: number): number {
    const at = (this.#length++ % CHUNK_ROWS) * ROW;
    for (let i = 0; i < field.value; i++) rows[at + i] = 0;
    rows[at + field.opcode] = opcode;
    rows[at + field.depth] = depth;
    return at;
  }

  /** Where the copy begins. */
  #copy(memory: LinearMemory, begin: number, size: number): number {
    this.#onBytes(size);
    const at = this.#dataWords;
    const words = (size + 3) >>> 2;
    if (at + words > this.#data.length) this.#grow(at + words);
    const data = this.#data;
    if (size <= LOOP_BYTES_MAX && (begin & 3) === 0) {
      const { u32 } = memory;
      for (let i = 0; i < words; i++) data[at + i] = u32[(begin >>> 2) + i]!;
    } else {
      new Uint8Array(data.buffer, 4 * at, size).set(memory.bytes.subarray(begin, begin + size));
    }
    this.#dataWords = at + words;
    return 4 * at;
  }

  #grow(needed: number): void {
    const data = uninitialized(Math.max(needed, 2 * this.#data.length));
    data.set(this.#data.subarray(0, this.#dataWords));
    this.#data = data;
  }

  /** The bytes of the field, whose size is in the next one. */
  #view(rows: Uint32Array, at: number): Uint8Array {
    return new Uint8Array(this.#data.buffer, rows[at]!, rows[at + 1]!);
  }
}

/** Words of any content: zeros would cost as much as what is written over them. */
function uninitialized(words: number): Uint32Array {
  const { buffer } = Buffer.allocUnsafeSlow(4 * words);
  return new Uint32Array(buffer, 0, words);
}

/** The number in `words` words, the lowest first. */
function numberIn(rows: Uint32Array, at: number, words: number): bigint {
  let top = words - 1;
  while (top > 0 && rows[at + top] === 0) top--;
  let value = BigInt(rows[at + top]!);
  for (let i = top - 1; i >= 0; i--) value = (value << 32n) | BigInt(rows[at + i]!);
  return value;
}
