import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { roundConstants } from "../../../base/primitives/keccak-permutation.ts";
import { KECCAK_ROUND_CONSTANTS, MEMORY_PAGES_MIN, PAGE, REVERSED_LANES, WORD } from "./layout.ts";

const MASK_64 = (1n << 64n) - 1n;

/** Value of each hexadecimal digit by its character code; the types of addresses and hashes vouch for the rest. */
const NIBBLES = Uint8Array.from({ length: 128 }, (_, code) => {
  const value = Number.parseInt(String.fromCharCode(code), 16);
  return Number.isNaN(value) ? 0 : value;
});

/** Up to here a loop takes less time than a call into native code. */
const SHORT_LENGTH = 128;

/** The memory all builds of an engine share, and TypeScript's views of it, which each growth makes anew. */
export class LinearMemory {
  readonly memory = new WebAssembly.Memory({ initial: MEMORY_PAGES_MIN, maximum: 0x10000 });
  /** Views that a growth makes useless: `refresh` comes before their use wherever emitted code ran since. */
  bytes = new Uint8Array(this.memory.buffer);
  u32 = new Uint32Array(this.memory.buffer);
  u64 = new BigUint64Array(this.memory.buffer);
  /** For text, which only Buffer writes quickly */
  #buffer = Buffer.from(this.memory.buffer);
  /** Where bytes are turned round on their way to text */
  readonly #scratch = Buffer.alloc(WORD);

  constructor() {
    this.bytes.set(roundConstants(), KECCAK_ROUND_CONSTANTS);
    this.bytes.fill(0xff, REVERSED_LANES, REVERSED_LANES + 32);
    for (let i = 0; i < 16; i++) this.bytes[REVERSED_LANES + i] = 15 - i;
  }

  /** Renews the views when the memory has grown, which takes a view's length away. */
  refresh(): void {
    if (this.bytes.length !== 0) return;
    this.bytes = new Uint8Array(this.memory.buffer);
    this.u32 = new Uint32Array(this.memory.buffer);
    this.u64 = new BigUint64Array(this.memory.buffer);
    this.#buffer = Buffer.from(this.memory.buffer);
  }

  /** Makes addresses below `end` usable; false when there is not so much. */
  reserve(end: number): boolean {
    const missing = end - this.bytes.length;
    if (missing <= 0) return true;
    try {
      this.memory.grow(Math.ceil(missing / PAGE) + 16);
      this.refresh();
      return true;
    } catch {
      return false;
    }
  }

  /** A copy of `length` bytes; none is the same for all. */
  copy(at: number, length: number): Uint8Array {
    if (length === 0) return EMPTY_BYTES;
    const { bytes } = this;
    if (length > SHORT_LENGTH) return bytes.slice(at, at + length);
    const copy = new Uint8Array(length);
    for (let i = 0; i < length; i++) copy[i] = bytes[at + i]!;
    return copy;
  }

  put(from: Uint8Array, at: number): void {
    const { bytes } = this;
    const { length } = from;
    if (length > SHORT_LENGTH) bytes.set(from, at);
    else for (let i = 0; i < length; i++) bytes[at + i] = from[i]!;
  }

  get32(address: number): number {
    return this.u32[address >>> 2]!;
  }

  set32(address: number, value: number): void {
    this.u32[address >>> 2] = value;
  }

  get64(address: number): bigint {
    return this.u64[address >>> 3]!;
  }

  set64(address: number, value: bigint): void {
    this.u64[address >>> 3] = value;
  }

  /** The 64-bit number as a number, rounded from 2^53 on. */
  number64(address: number): number {
    const at = address >>> 2;
    return this.u32[at + 1]! * 2 ** 32 + this.u32[at]!;
  }

  isZero64(address: number): boolean {
    const at = address >>> 2;
    return (this.u32[at]! | this.u32[at + 1]!) === 0;
  }

  /** Copies a 64-bit number without making a bigint of it. */
  copy64(to: number, from: number): void {
    const { u32 } = this;
    u32[to >>> 2] = u32[from >>> 2]!;
    u32[(to >>> 2) + 1] = u32[(from >>> 2) + 1]!;
  }

  /** Adds the 64-bit number at `from` to the one at `to`. */
  add64(to: number, from: number): void {
    const { u32 } = this;
    const low = u32[to >>> 2]! + u32[from >>> 2]!;
    u32[to >>> 2] = low;
    u32[(to >>> 2) + 1] = u32[(to >>> 2) + 1]! + u32[(from >>> 2) + 1]! + (low > 0xffffffff ? 1 : 0);
  }

  copyWord(to: number, from: number): void {
    const { u32 } = this;
    for (let i = 0; i < 8; i++) u32[(to >>> 2) + i] = u32[(from >>> 2) + i]!;
  }

  /** @param word 32 bits each, the lowest first */
  putWord(at: number, word: readonly number[]): void {
    const { u32 } = this;
    for (let i = 0; i < 8; i++) u32[(at >>> 2) + i] = word[i]!;
  }

  /** Writes a word of at most 32 bits. */
  setSmallWord(at: number, value: number): void {
    const { u32 } = this;
    u32[at >>> 2] = value;
    for (let i = 1; i < 8; i++) u32[(at >>> 2) + i] = 0;
  }

  /** The word at `address`, a multiple of 8. */
  word(address: number): bigint {
    const { u32, u64 } = this;
    const at = address >>> 3;
    // Bigints cost an allocation for each step, and most words are small.
    let beyond = 0;
    for (let i = 2; i < 8; i++) beyond |= u32[2 * at + i]!;
    if (beyond === 0) return u64[at]!;
    const low = u64[at]! | (u64[at + 1]! << 64n);
    const high = u64[at + 2]! | (u64[at + 3]! << 64n);
    return high === 0n ? low : low | (high << 128n);
  }

  setWord(address: number, value: bigint): void {
    const { u64 } = this;
    const at = address >>> 3;
    u64[at] = value & MASK_64;
    u64[at + 1] = (value >> 64n) & MASK_64;
    u64[at + 2] = (value >> 128n) & MASK_64;
    u64[at + 3] = value >> 192n;
  }

  isZeroWord(address: number): boolean {
    const { u32 } = this;
    const at = address >>> 2;
    for (let i = 0; i < 8; i++) if (u32[at + i] !== 0) return false;
    return true;
  }

  /** The address in the low 160 bits of a word. */
  address(at: number): Address {
    return `0x${this.#digits(at, 20)}` as Address;
  }

  hash(at: number): Hash {
    return `0x${this.#digits(at, 32)}` as Hash;
  }

  /** Writes an address or a hash as a word. */
  setHex(at: number, hex: Address | Hash): void {
    const { bytes } = this;
    const size = (hex.length - 2) / 2;
    let digit = hex.length;
    for (let i = 0; i < size; i++) {
      digit -= 2;
      bytes[at + i] = (NIBBLES[hex.charCodeAt(digit)]! << 4) | NIBBLES[hex.charCodeAt(digit + 1)]!;
    }
    // A call of the native fill takes longer for so few.
    for (let i = size; i < WORD; i++) bytes[at + i] = 0;
  }

  /** The hexadecimal digits of `length` bytes. */
  digits(at: number, length: number): string {
    return this.#buffer.toString("hex", at, at + length);
  }

  /** The lowest `length` bytes of a word as digits, highest byte first. */
  #digits(at: number, length: number): string {
    const { bytes } = this;
    for (let i = 0; i < length; i++) this.#scratch[i] = bytes[at + length - 1 - i]!;
    return this.#scratch.toString("hex", 0, length);
  }
}
