import type { BegunBlock } from "./assemble-block.ts";

/** Blocks without a begun one after as many misses in a row that it is not worth trying. */
const PAUSE_MAX = 64;

/**
 * The next block, packed in part before it is due. Where transactions with higher tips keep coming later, what was packed cannot be used:
 * after each such block twice as many are made without.
 */
export class PackingAhead {
  #begun: (BegunBlock & { readonly key: string }) | undefined;
  #pauseAfterMiss = 1;
  /** Blocks until the next one is begun ahead. */
  #pause = 0;

  /**
   * Goes on with the block that `key` describes, or begins it. In what is left of the time it reads trie nodes for the state root.
   * @returns true where there is more to do
   * @throws as `Packing.run` and `begin`
   */
  extend(key: string, begin: () => BegunBlock, timeMs: number): boolean {
    if (this.#pause > 0) return false;
    if (this.#begun?.key !== key) this.#begun = { ...begin(), key };
    const { builder, packing } = this.#begun;
    const deadline = performance.now() + timeMs;
    if (packing.run(timeMs)) return true;
    if (!packing.isStale) return builder.prefetchTrie(deadline);
    this.miss();
    return false;
  }

  /** The begun block, where it is that of `key`. Called once for each block. */
  take(key: string): BegunBlock | undefined {
    const begun = this.#begun;
    this.#begun = undefined;
    if (this.#pause > 0) this.#pause--;
    return begun?.key === key ? begun : undefined;
  }

  /** What was begun could be used. */
  hit(): void {
    this.#pauseAfterMiss = 1;
  }

  /** What was begun could not be used. */
  miss(): void {
    this.#begun = undefined;
    this.#pause = this.#pauseAfterMiss;
    this.#pauseAfterMiss = Math.min(PAUSE_MAX, 2 * this.#pauseAfterMiss);
  }

  forget(): void {
    this.#begun = undefined;
  }
}
