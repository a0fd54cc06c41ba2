import { HISTORY_DEPTH, historyPaths } from "./node-history.ts";

/** Values of the first byte of a key, which says all paths of stored versions on the way to it. */
const FIRST_BYTES = 256;

type Trie = { readonly owner: Uint8Array; readonly has: Uint8Array; count: number };

/** The places of stored versions on the way to some keys, each once. */
export class HistoryPlaces {
  readonly #tries = new Map<string, Trie>();
  #last: Trie | undefined;
  #size = 0;

  /** Places, without those at a shorter path. */
  get size(): number {
    return this.#size;
  }

  /** True when no key of the trie of `owner` can add a place. */
  hasAll(owner: Uint8Array): boolean {
    return this.#trie(owner).count === FIRST_BYTES;
  }

  /** Adds the places on the way to `key` in the trie of `owner`, as in TrieNodeReader. */
  add(owner: Uint8Array, key: Uint8Array): void {
    const trie = this.#trie(owner);
    const first = key[0]!;
    if (trie.has[first] === 1) return;
    trie.has[first] = 1;
    trie.count++;
    this.#size++;
  }

  *all(): Generator<{ readonly owner: Uint8Array; readonly path: Uint8Array }> {
    for (const { owner, has } of this.#tries.values()) {
      let last = new Uint8Array(0);
      for (let first = 0; first < FIRST_BYTES; first++) {
        if (has[first] === 0) continue;
        const isFirst = last.length === 0;
        for (const path of historyPaths(Uint8Array.of(first))) {
          const isLast = path.length === HISTORY_DEPTH;
          if (isFirst || isLast || path.some((nibble, i) => nibble !== last[i])) {
            yield { owner, path };
          }
          if (isLast) last = path.slice();
        }
      }
    }
  }

  #trie(owner: Uint8Array): Trie {
    // The keys of one trie come one after the other.
    if (this.#last?.owner === owner) return this.#last;
    const name = Buffer.from(owner.buffer, owner.byteOffset, owner.length).toString("latin1");
    let trie = this.#tries.get(name);
    if (trie === undefined) {
      trie = { owner, has: new Uint8Array(FIRST_BYTES), count: 0 };
      this.#tries.set(name, trie);
    }
    this.#last = trie;
    return trie;
  }
}
