import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { NodeBatch } from "./node-batch.ts";
import { createNodeCache, NODE_CACHE_BYTES_MIN } from "./node-cache.ts";
import { HASH_ONLY } from "./ordered-trie-root.ts";
import { createTrie } from "./trie.ts";
import { updateTrie } from "./trie-update.ts";

test("an update of more nodes than are hashed at a time gives the root of the new values", () => {
  const count = 16_000;
  const keys = Array.from({ length: count }, (_, i) => keccak256(Uint8Array.of(i >> 8, i & 255)));
  const changesTo = (turn: number) => ({
    keys,
    valueOf: (index: number) => new Uint8Array(100).fill(turn + (index % 50)),
  });
  const stored = new Map<string, Uint8Array>();
  const nodes = {
    node: (_owner: Uint8Array, _path: Uint8Array, hash: Uint8Array) => stored.get(bytesToHex(hash)),
  };
  const trie = createTrie(nodes, createNodeCache(NODE_CACHE_BYTES_MIN), EMPTY_BYTES);
  let root: Uint8Array = EMPTY_TRIE_ROOT_BYTES;
  for (const turn of [1, 2]) {
    const batch = new NodeBatch();
    root = trie.update(root, changesTo(turn), batch).root;
    const built = updateTrie(undefined, EMPTY_TRIE_ROOT_BYTES, changesTo(turn), HASH_ONLY);
    assert.deepEqual(root, built);
    assert.ok(batch.bytes > 3 << 20);
    for (const { hash, rlp } of batch) {
      assert.deepEqual(hash, keccak256(rlp));
      stored.set(bytesToHex(hash), rlp);
    }
  }
});
