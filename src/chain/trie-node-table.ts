import { invariant } from "../errors.ts";
import type { Kv } from "../storage/kv.ts";
import { TABLE, tableKey } from "../storage/schema.ts";
import type { TrieNode, TrieNodeReader } from "../trie/node-store.ts";

/** Ends the nibbles of a path in a node's key: no nibble is 16, so no path's key begins another's. */
const PATH_END = Uint8Array.of(0x10);
const HASH_LENGTH = 16;

/**
 * Trie nodes, of all versions of the state. A block of 200 transfers makes over a thousand, all over
 * the key space; so new ones wait in memory and are written sorted, many blocks at a time. What is
 * in memory when the process dies is computed again from the block log.
 */
export class TrieNodeTable implements TrieNodeReader {
  readonly #kv: Kv;
  /** RLP by key as latin-1 text: nodes not yet being merged into rows, and those that are. */
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
      this.#recent.set(Buffer.from(nodeKey(owner, path, hash).buffer).toString("latin1"), rlp);
      this.#recentBytes += rlp.length;
    }
  }

  /** Turns to merging everything remembered so far; the merge before must be through. */
  beginMerge(): void {
    invariant(this.#merging.size === 0, "one merge must end before the next begins");
    this.#merging = this.#recent;
    this.#mergeQueue = Array.from(this.#merging.keys()).sort().reverse();
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
