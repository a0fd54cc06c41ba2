import { invariant } from "../../errors.ts";
import type { Kv } from "../../storage/kv.ts";
import { TABLE, tableKey } from "../../storage/schema.ts";
import type { TrieNode, TrieNodeReader } from "../../trie/node-store.ts";

/** Ends the nibbles of a path in a node's key: no nibble is 16, so no path's key begins another's. */
const PATH_END = Uint8Array.of(0x10);
const HASH_LENGTH = 16;

/**
 * Trie nodes: in rows, those of the state at every checkpoint, and in memory those of the blocks since.
 *
 * A block makes nodes all over the key space, a thousand for 200 transfers, twenty for no transaction
 * at all; and most of them, near the roots, last until the next block. So they wait in memory for a
 * checkpoint, which writes the newest one of each path and drops the others: a tenth of the rows for
 * a chain of empty blocks. What lies between checkpoints is computed from the block log when somebody
 * asks for it.
 */
export class TrieNodeTable implements TrieNodeReader {
  readonly #kv: Kv;
  /** RLP by key as latin-1 text, oldest first: nodes no merge has begun with, and those of one. */
  #recent = new Map<string, Uint8Array>();
  #merging = new Map<string, Uint8Array>();
  /** Keys of `#merging`, descending so that the next one is at the end. */
  #mergeQueue: string[] = [];
  #recentBytes = 0;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  /** Size of the nodes that no merge has begun with. */
  get recentBytes(): number {
    return this.#recentBytes;
  }

  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    const key = nodeKey(owner, path, hash);
    const text = Buffer.from(key.buffer).toString("latin1");
    return this.#recent.get(text) ?? this.#merging.get(text) ?? this.#kv.get(key);
  }

  remember(nodes: readonly TrieNode[]): void {
    for (const { owner, path, hash, rlp } of nodes) {
      const text = Buffer.from(nodeKey(owner, path, hash).buffer).toString("latin1");
      // A node that comes back is the newest of its path again.
      this.#recent.delete(text);
      this.#recent.set(text, rlp);
      this.#recentBytes += rlp.length;
    }
  }

  /** Forgets what waits in memory. */
  reset(): void {
    this.#recent.clear();
    this.#merging.clear();
    this.#mergeQueue = [];
    this.#recentBytes = 0;
  }

  /** Turns to merging the newest nodes of what was remembered; the merge before must be through. */
  beginMerge(): void {
    invariant(this.#merging.size === 0, "one merge must end before the next begins");
    const newestOfPlace = new Map<string, string>();
    for (const key of this.#recent.keys()) newestOfPlace.set(key.slice(0, -HASH_LENGTH), key);
    this.#mergeQueue = Array.from(newestOfPlace.values()).sort().reverse();
    for (const key of this.#mergeQueue) this.#merging.set(key, this.#recent.get(key)!);
    this.#recent = new Map();
    this.#recentBytes = 0;
  }

  /** Writes up to `keysMax` nodes in one transaction; true while some are left. */
  mergeSome(keysMax: number): boolean {
    const left = Math.max(0, this.#mergeQueue.length - keysMax);
    const keys = this.#mergeQueue.slice(left).reverse();
    if (keys.length > 0) {
      this.#kv.transaction((writer) => {
        for (const text of keys) writer.put(Buffer.from(text, "latin1"), this.#merging.get(text)!);
      });
    }
    for (const text of keys) this.#merging.delete(text);
    this.#mergeQueue.length = left;
    return left > 0;
  }
}

function nodeKey(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array<ArrayBuffer> {
  const table = owner.length === 0 ? TABLE.accountTrieNode : TABLE.storageTrieNode;
  return tableKey(table, owner, path, PATH_END, hash.subarray(0, HASH_LENGTH));
}
