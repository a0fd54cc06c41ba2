import type { NodeBatch } from "../../../trie/node-batch.ts";
import type { TrieNodeReader } from "../../../trie/node-store.ts";

/** Trie nodes in memory in front of others. */
export class TrieNodeOverlay implements TrieNodeReader {
  readonly #below: TrieNodeReader;
  /** By owner, path and hash; the same node may be in several places. */
  readonly #nodes = new Map<string, Uint8Array>();

  constructor(below: TrieNodeReader) {
    this.#below = below;
  }

  node(owner: Uint8Array, path: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
    return this.#nodes.get(nameOf(owner, path, hash)) ?? this.#below.node(owner, path, hash);
  }

  add(nodes: NodeBatch): void {
    for (const { owner, path, hash, rlp } of nodes) this.#nodes.set(nameOf(owner, path, hash), rlp);
  }
}

function nameOf(...parts: readonly Uint8Array[]): string {
  return parts.map((part) => Buffer.from(part).toString("latin1")).join("/");
}
