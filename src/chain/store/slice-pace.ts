/** Leaves room for a garbage collection within the longest pause that a node may have, 20 ms. */
const SLICE_MS = 4;

/**
 * Chooses the number of rows that one transaction of a longer work writes, so that it and its commit take at most `sliceMs`. The time of
 * a commit depends on its pages and on the disk, so earlier commits predict it. A slow commit counts at once and is forgotten slowly.
 */
export class SlicePace {
  readonly #sliceMs: number;
  readonly #now: () => number;
  #commitMsPerRow = 0;
  #start = 0;
  /** Time of the last call of `isLate`. */
  #asked = 0;

  /** @param now milliseconds */
  constructor(sliceMs = SLICE_MS, now: () => number = () => performance.now()) {
    this.#sliceMs = sliceMs;
    this.#now = now;
  }

  /** To be called before the transaction. */
  begin(): void {
    this.#start = this.#now();
    this.#asked = this.#start;
  }

  /** Whether the transaction has to be committed now. @param rows written so far */
  isLate(rows: number): boolean {
    this.#asked = this.#now();
    return this.#asked - this.#start + rows * this.#commitMsPerRow >= this.#sliceMs;
  }

  /** To be called after the commit. */
  committed(rows: number): void {
    if (rows === 0) return;
    const ms = (this.#now() - this.#asked) / rows;
    const known = this.#commitMsPerRow;
    this.#commitMsPerRow = ms > known ? (ms + known) / 2 : known * 0.9 + ms * 0.1;
  }
}
