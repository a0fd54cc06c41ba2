import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { byKey } from "../storage/row-order.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { updateTrie } from "./in-place-update.ts";
import { TrieBuilder } from "./trie-builder.ts";
import type { EntrySink } from "./unhashed-nodes.ts";

/** Keys that share long prefixes, so that extensions and nodes below 32 bytes occur. */
const key = fc
  .tuple(fc.nat(2), fc.nat(40), fc.array(fc.nat(3), { minLength: 6, maxLength: 6 }))
  .map(([byte, at, bytes]) => {
    const key = new Uint8Array(32).fill(byte);
    key.set(bytes, Math.min(at, 32 - bytes.length));
    return key;
  });
const leaves = fc.uniqueArray(fc.record({ key, value: fc.uint8Array({ minLength: 1, maxLength: 40 }) }), {
  maxLength: 60,
  selector: (leaf) => bytesToHex(leaf.key),
});

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

test("TrieBuilder gives the root and the nodes of an update of the empty trie, in the order of their rows", () => {
  fc.assert(
    fc.property(leaves, (leaves) => {
      const keys = new Uint8Array(leaves.length * 32);
      for (const [i, leaf] of leaves.entries()) keys.set(leaf.key, i * 32);
      const values = { valueOf: (index: number) => leaves[index]!.value };
      const built = collecting();
      const trie = new TrieBuilder(built.sink);
      const value = new Uint8Array(40);
      for (const i of byKey(keys, 32, 0, leaves.length)) {
        // The same buffer for every value, as callers have it.
        value.set(leaves[i]!.value);
        trie.add(keys, i * 32, value.subarray(0, leaves[i]!.value.length));
      }
      const root = trie.finish();

      const updated = collecting();
      const changes = { keys: leaves.map((leaf) => leaf.key), ...values };
      const expected = updateTrie(EMPTY_TRIE_ROOT_BYTES, {
        source: undefined,
        changes,
        sink: updated.sink,
      });
      assert.equal(bytesToHex(root), bytesToHex(expected));
      assert.deepEqual(built.nodes.toSorted(), updated.nodes.toSorted());
      const rows = built.nodes.map((node) => `${node.split(" ")[0]}10`);
      assert.deepEqual(rows, rows.toSorted());
    }),
  );
});
