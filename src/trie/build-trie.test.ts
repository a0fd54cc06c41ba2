import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import { EMPTY_BYTES } from "../primitives/bytes.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { keccak256 } from "../primitives/keccak.ts";
import { byKey } from "../storage/row-order.ts";
import { buildTrie } from "./build-trie.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { NodeBatch } from "./node-batch.ts";
import { createNodeCache, NODE_CACHE_BYTES_MIN } from "./node-cache.ts";
import { HASH_ONLY } from "./ordered-trie-root.ts";
import { createTrie } from "./trie.ts";
import { updateTrie } from "./trie-update.ts";
import type { EntrySink } from "./unhashed-nodes.ts";

/** Keys that share long prefixes, so that extensions and nodes below 32 bytes occur. */
const key = fc
  .tuple(fc.nat(2), fc.nat(40), fc.array(fc.nat(3), { minLength: 6, maxLength: 6 }))
  .map(([byte, at, bytes]) => {
    const key = new Uint8Array(32).fill(byte);
    key.set(bytes, Math.min(at, 32 - bytes.length));
    return key;
  });
const leaves = fc.uniqueArray(
  fc.record({ key, value: fc.uint8Array({ minLength: 1, maxLength: 40 }) }),
  { maxLength: 60, selector: (leaf) => bytesToHex(leaf.key) },
);

function collecting() {
  const nodes: string[] = [];
  const add = (path: Uint8Array, depth: number, rlp: Uint8Array, length: number) => {
    const bytes = rlp.slice(0, length);
    nodes.push(`${bytesToHex(path.slice(0, depth))} ${bytesToHex(bytes)}`);
    return keccak256(bytes);
  };
  const addHashed: EntrySink = (bytes, start, depth, length) => {
    const path = bytes.subarray(start, start + depth);
    const [hash, rlp] = [start + depth, start + depth + 32];
    const computed = add(path, depth, bytes.subarray(rlp, rlp + length), length);
    assert.deepEqual(bytes.slice(hash, rlp), computed);
  };
  return { nodes, sink: { add, addHashed, replace: () => {} } };
}

test("buildTrie gives the root and the nodes of an update of the empty trie, in the order of their rows", () => {
  fc.assert(
    fc.property(leaves, (leaves) => {
      const keys = new Uint8Array(leaves.length * 32);
      for (const [i, leaf] of leaves.entries()) keys.set(leaf.key, i * 32);
      const values = { valueOf: (index: number) => leaves[index]!.value };
      const built = collecting();
      const order = byKey(keys, 32, 0, leaves.length);
      const root = buildTrie({ keys, order, ...values }, built.sink);

      const updated = collecting();
      const changes = { keys: leaves.map((leaf) => leaf.key), ...values };
      const expected = updateTrie(undefined, EMPTY_TRIE_ROOT_BYTES, changes, updated.sink);
      assert.equal(bytesToHex(root), bytesToHex(expected));
      assert.deepEqual(built.nodes.toSorted(), updated.nodes.toSorted());
      const rows = built.nodes.map((node) => `${node.split(" ")[0]}10`);
      assert.deepEqual(rows, rows.toSorted());
    }),
  );
});

test("tries of more nodes than are hashed at a time have the same root, built and updated", () => {
  const count = 16_000;
  const keys = Array.from({ length: count }, (_, i) => keccak256(Uint8Array.of(i >> 8, i & 255)));
  const flat = Buffer.concat(keys);
  const order = byKey(flat, 32, 0, count);
  const valuesOf = (turn: number) => (index: number) =>
    new Uint8Array(100).fill(turn + (index % 50));
  const rootOf = (turn: number) =>
    buildTrie({ keys: flat, order, valueOf: valuesOf(turn) }, HASH_ONLY);

  const stored = new Map<string, Uint8Array>();
  const nodes = {
    node: (_owner: Uint8Array, _path: Uint8Array, hash: Uint8Array) => stored.get(bytesToHex(hash)),
  };
  const trie = createTrie(nodes, createNodeCache(NODE_CACHE_BYTES_MIN), EMPTY_BYTES);
  let root: Uint8Array = EMPTY_TRIE_ROOT_BYTES;
  for (const turn of [1, 2]) {
    const batch = new NodeBatch();
    root = trie.update(root, { keys, valueOf: valuesOf(turn) }, batch).root;
    assert.deepEqual(root, rootOf(turn));
    assert.ok(batch.bytes > 3 << 20);
    for (const { hash, rlp } of batch) {
      assert.deepEqual(hash, keccak256(rlp));
      stored.set(bytesToHex(hash), rlp);
    }
  }
});
