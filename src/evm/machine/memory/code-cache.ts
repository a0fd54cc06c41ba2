import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import type { Opcode } from "../opcodes.ts";
import { writeSegments } from "./analyse.ts";
import { writeBlocks } from "./code-map.ts";
import { CODE, CODE_END } from "./layout.ts";
import type { LinearMemory } from "./linear-memory.ts";

/** Contract code and, once it was called, its position in linear memory. */
export type Code = {
  readonly id: number;
  readonly hash: Hash;
  /** The same as a word of linear memory: each record of an account with this code has a copy. */
  readonly hashWord: readonly number[];
  readonly bytes: Uint8Array;
  /** 0: not in the code region */
  address: number;
  /** Address of its segment table less 8·address, modulo 2^32 */
  segments: number;
  /** Gas used by the interpreter's frames of this code, counted if there is a compiler */
  heat: number;
  /** `heat` at which the compiler is requested to make its module */
  askAt: number;
  /** Runs it compiled, with its block table at `blocks` */
  run: (() => number) | undefined;
  blocks: number;
};

/** PUSH reads up to 16 bytes at once around its immediate, and STOPs follow the last byte. */
const MARGIN = 64;

/** Codes and their bytes remembered before all are forgotten; a forgotten one is read and analysed again. */
const CODES_MAX = 20_000;
const CODE_BYTES_MAX = 64 * 1024 * 1024;

/** Code by hash, with numbers for records to name it by. Analysed for one set of opcodes. */
export class CodeCache {
  readonly #memory: LinearMemory;
  readonly #opcodes: readonly (Opcode | undefined)[];
  readonly #byHash = new Map<Hash, Code>();
  #codes: Code[] = [];
  #codeBytes = 0;
  #end = CODE;

  constructor(memory: LinearMemory, opcodes: readonly (Opcode | undefined)[]) {
    this.#memory = memory;
    this.#opcodes = opcodes;
    this.forget();
  }

  /** To be called between executions: forgets everything when much has come together. */
  tidy(): void {
    const isRegionFull = this.#end > CODE + ((CODE_END - CODE) * 3) / 4;
    if (isRegionFull || this.#codes.length > CODES_MAX || this.#codeBytes > CODE_BYTES_MAX) {
      this.forget();
    }
  }

  forget(): void {
    this.#byHash.clear();
    this.#codes = [];
    this.#codeBytes = 0;
    this.#end = CODE;
    this.add(EMPTY_CODE_HASH, EMPTY_BYTES);
  }

  byId(id: number): Code {
    return this.#codes[id]!;
  }

  /** The code of `hash`, read with `read` when it is new here. */
  byHash(hash: Hash, read: (hash: Hash) => Uint8Array): Code {
    return this.#byHash.get(hash) ?? this.add(hash, read(hash));
  }

  /** False once it was forgotten. */
  holds(code: Code): boolean {
    return this.#codes[code.id] === code;
  }

  add(hash: Hash, bytes: Uint8Array): Code {
    const known = this.#byHash.get(hash);
    if (known) return known;
    const code = {
      id: this.#codes.length,
      hash,
      hashWord: wordOf(hash),
      bytes,
      address: 0,
      segments: 0,
      heat: 0,
      askAt: 0,
      run: undefined,
      blocks: 0,
    };
    this.#codes.push(code);
    this.#codeBytes += bytes.length;
    this.#byHash.set(hash, code);
    return code;
  }

  /** Brings `code` into the code region; false when that is full. */
  load(code: Code): boolean {
    if (code.address !== 0) return true;
    if (this.#end + placedSize(code.bytes.length) > CODE_END) return false;
    const placed = this.place(code.bytes, this.#end);
    code.address = placed.address;
    code.segments = placed.segments;
    this.#end = placed.end;
    return true;
  }

  /** Gives `code` a block table for its compiled form; false when the code region is full. */
  placeBlocks(code: Code): boolean {
    const size = 2 * (code.bytes.length + 1);
    const end = align8(this.#end + size);
    if (end > CODE_END) return false;
    const table = new Uint16Array(this.#memory.bytes.buffer, this.#end, size / 2).fill(0);
    writeBlocks(code.bytes, this.#opcodes, table);
    code.blocks = this.#end;
    this.#end = end;
    return true;
  }

  /** Writes code and segment table from `at` on, which must have `placedSize` bytes. */
  place(code: Uint8Array, at: number): { address: number; segments: number; end: number } {
    const { bytes } = this.#memory;
    const address = at + MARGIN;
    const table = align8(address + code.length + MARGIN);
    const end = table + 8 * (code.length + 1);
    bytes.fill(0, at, address);
    bytes.set(code, address);
    bytes.fill(0, address + code.length, end);
    writeSegments(code, this.#opcodes, new Uint32Array(bytes.buffer, table, 2 * (code.length + 1)));
    return { address, segments: (table - 8 * address) | 0, end };
  }
}

/** The lowest 32 bits first. */
function wordOf(hash: Hash): readonly number[] {
  const part = (i: number) => Number.parseInt(hash.slice(58 - 8 * i, 66 - 8 * i), 16);
  return Array.from({ length: 8 }, (_, i) => part(i));
}

/** Bytes that code of `length` bytes takes with its margins and table. */
export function placedSize(length: number): number {
  return align8(length + 2 * MARGIN) + 8 * (length + 1) + 8;
}

function align8(address: number): number {
  return (address + 7) & ~7;
}
