/** Below the longest pause a node may have, 20 ms, by what a collection of garbage takes. */
const SLICE_MS = 4;

/**
 * How many rows one transaction of a longer work writes: it and its commit are to be through in `sliceMs`. What a commit takes depends on pages, and
 * on the disk where pages are written one by one; the commits before say it. A slow one counts at once, and is forgotten slowly.
 */
export class SlicePace {
  readonly #sliceMs: number;
  readonly #now: () => number;
  #commitMsPerRow = 0;
  #start = 0;
  /** When the work was asked for the last time whether it is late. */
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
