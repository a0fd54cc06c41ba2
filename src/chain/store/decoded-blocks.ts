import type { DecodedRecord } from "./decoded-record.ts";

/** Memory of a decoded block as a multiple of the size of its record in the log. */
const DECODED_FACTOR = 5;

/**
 * Decoded blocks by number: the newest, which most callers ask for, and those used last of the older ones. Each of the two takes up to
 * half of the memory.
 */
export class DecodedBlocks {
  /** Of records, for each of the two. */
  readonly #bytesMax: number;
  /** In order of number, and in order of use. */
  readonly #newest = new Map<number, DecodedRecord>();
  readonly #older = new Map<number, DecodedRecord>();
  #newestBytes = 0;
  #olderBytes = 0;

  /** @param bytesMax memory of all decoded blocks; the newest one may exceed it */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax / DECODED_FACTOR / 2;
  }

  /** Memory of the decoded blocks. */
  get bytes(): number {
    return (this.#newestBytes + this.#olderBytes) * DECODED_FACTOR;
  }

  get(number: number): DecodedRecord | undefined {
    const newest = this.#newest.get(number);
    if (newest !== undefined) return newest;
    const older = this.#older.get(number);
    if (older === undefined) return undefined;
    this.#older.delete(number);
    this.#older.set(number, older);
    return older;
  }

  /** The block after all others. The newest one stays whatever its size. */
  addHead(number: number, record: DecodedRecord): void {
    this.#newest.set(number, record);
    this.#newestBytes += record.length;
    for (const [oldest, { length }] of this.#newest) {
      if (this.#newestBytes <= this.#bytesMax || oldest === number) break;
      this.#newest.delete(oldest);
      this.#newestBytes -= length;
    }
  }

  /** A block read again. */
  addOlder(number: number, record: DecodedRecord): void {
    this.#older.set(number, record);
    this.#olderBytes += record.length;
    for (const [leastUsed, { length }] of this.#older) {
      if (this.#olderBytes <= this.#bytesMax) break;
      this.#older.delete(leastUsed);
      this.#olderBytes -= length;
    }
  }

  /** Forgets the blocks after `number`. */
  forgetAfter(number: number): void {
    for (const [block, { length }] of this.#newest) {
      if (block > number && this.#newest.delete(block)) this.#newestBytes -= length;
    }
    for (const [block, { length }] of this.#older) {
      if (block > number && this.#older.delete(block)) this.#olderBytes -= length;
    }
  }
}
