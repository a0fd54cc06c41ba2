import { statfsSync } from "node:fs";
import { invariant } from "../../base/errors.ts";
import { DiskFullError, StorePoisonedError, StoreUncheckedError } from "../store-errors.ts";

/**
 * Below this much space no block is taken. The index is a writable memory map of a file with holes:
 * where the disk has no page to fill one with, the system ends the process.
 */
export const FREE_BYTES_MIN = 64 << 20;

/** Whether a store may be written to: it is open, its index was checked, no write has failed halfway, and the disk has space. */
export class WriteGuard {
  readonly #freeBytes: () => number;
  #poison: unknown;
  #isClosed = false;
  #isHeld = false;

  constructor(freeBytes: () => number) {
    this.#freeBytes = freeBytes;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** True from `hold` until `release`. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  /** Nothing is written until `release`. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
  }

  close(): void {
    this.#isClosed = true;
  }

  /** True where nothing forbids to write. */
  canWrite(): boolean {
    return !this.#isClosed && !this.#isHeld && this.#poison === undefined && this.#freeBytes() >= FREE_BYTES_MIN;
  }

  /** @throws StorePoisonedError */
  assertUsable(): void {
    invariant(!this.#isClosed, "the store must be open");
    if (this.#poison === undefined) return;
    throw new StorePoisonedError("store needs to be opened again", {}, { cause: this.#poison });
  }

  /** @throws StorePoisonedError, StoreUncheckedError */
  assertReleased(): void {
    this.assertUsable();
    if (this.#isHeld) throw new StoreUncheckedError();
  }

  /** @throws StorePoisonedError, StoreUncheckedError, DiskFullError */
  assertWritable(): void {
    if (this.canWrite()) return;
    this.assertReleased();
    throw new DiskFullError({ freeBytes: this.#freeBytes(), neededBytes: FREE_BYTES_MIN });
  }

  /** After a failed write memory and disk differ: nothing is written any more. */
  poison(error: unknown): void {
    this.#poison = error;
  }

  /** Runs `work`, whose failure poisons the store. */
  orPoison(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.poison(error);
      throw error;
    }
  }
}

/** A disk that takes 1.2 GB/s needs as long to write `FREE_BYTES_MIN`. */
const READ_EVERY_MS = 50;

/** Free bytes of the disk with the least of those that hold `paths`. Each block asks for it, several thousand times a second in an import. */
export function createFreeSpaceReader(
  paths: readonly string[],
  now: () => number = () => performance.now(),
): () => number {
  let readAt = Number.NEGATIVE_INFINITY;
  let freeBytes = 0;
  return () => {
    const time = now();
    if (time - readAt >= READ_EVERY_MS) {
      freeBytes = Number.POSITIVE_INFINITY;
      for (const path of paths) {
        const { bavail, bsize } = statfsSync(path);
        freeBytes = Math.min(freeBytes, bavail * bsize);
      }
      readAt = time;
    }
    return freeBytes;
  };
}
