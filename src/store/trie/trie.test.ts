import assert from "node:assert/strict";
import { test } from "node:test";
import { createMerkleProof, createMPT } from "@ethereumjs/mpt";
import fc from "../../../test/support/fast-check.ts";
import { createMemoryNodes } from "../../../test/support/store/trie/memory-nodes.ts";
import { NO_CACHE } from "../../../test/support/store/trie/no-cache.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { childReference, decodeNode, HASH_LENGTH } from "./node.ts";
import { NodeBatch } from "./node-batch.ts";
import { ChunkedNodeCache, NODE_CACHE_BYTES_MIN } from "./node-cache.ts";
import { MissingTrieNodeError, type TrieNode, type TrieNodeReader } from "./node-store.ts";
import { InvalidProofError, verifyProof } from "./proof.ts";
import { createTrie } from "./trie.ts";

type Entry = readonly [key: Uint8Array, value: Uint8Array | undefined];

/** A trie that keeps what it makes. The smallest cache there is, so that most nodes come from the store. */
function keepingTrie() {
  const nodes = createMemoryNodes();
  const trie = createTrie(nodes, new ChunkedNodeCache(NODE_CACHE_BYTES_MIN), EMPTY_BYTES);
  return {
    ...trie,
    nodes,
    put(root: Uint8Array, entries: readonly Entry[]): Uint8Array {
      const keys = entries.map(([key]) => key);
      const created = new NodeBatch();
      const changes = { keys, valueOf: (index: number) => entries[index]![1] };
      const { root: next } = trie.update(root, changes, created);
      nodes.keep(created);
      return next;
    },
  };
}

/** Distinct keys, the last entry of each. */
function distinct(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [bytesToHex(entry[0]), entry])).values()];
}

const value = fc.option(fc.uint8Array({ minLength: 1, maxLength: 40 }), { nil: undefined });
/** Keys that are near each other: shared prefixes, keys inside keys, all sorts of splits and merges. */
const nearKey = fc.array(fc.constantFrom(0x00, 0x01, 0x10, 0x11), { maxLength: 4 });
const hashedKey = fc.nat(200).map((n) => [...keccak256(Uint8Array.of(n))]);
/** 32 bytes that differ in the last ones only, with small values: nodes inside their parents. */
const lateKey = fc
  .array(fc.constantFrom(0, 1, 16), { minLength: 2, maxLength: 2 })
  .map((end) => [...new Array(30).fill(7), ...end]);

for (const [name, key] of Object.entries({ nearKey, hashedKey, lateKey })) {
  test(`update and prove agree with @ethereumjs/mpt: ${name}`, async () => {
    const entry = fc.tuple(
      key.map((bytes) => Uint8Array.from(bytes)),
      fc.oneof(value, fc.constant(undefined), fc.constant(Uint8Array.of(1))),
    );
    const batches = fc.array(fc.array(entry, { maxLength: 30 }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        let oracle = await createMPT();
        const trie = keepingTrie();
        let root = EMPTY_TRIE_ROOT_BYTES;
        const seen = new Map<string, Entry>();
        for (const batch of all) {
          const entries = distinct(batch);
          for (const entry of entries) seen.set(bytesToHex(entry[0]), entry);
          root = trie.put(root, entries);
          // Made anew each time: the oracle does not fold a branch at the root whose own value is deleted.
          oracle = await createMPT();
          for (const [k, v] of seen.values()) if (v !== undefined) await oracle.put(k, v);
          assert.equal(bytesToHex(root), bytesToHex(oracle.root()));
        }
        for (const [k, v] of seen.values()) {
          assert.deepEqual(trie.get(root, k), v);
          const proof = trie.prove(root, k);
          assert.deepEqual(verifyProof(root, k, proof), v);
          if (v === undefined) continue;
          // The oracle also lists nodes that stand inside their parents; geth does not.
          const expected = await createMerkleProof(oracle, k);
          assert.deepEqual(
            proof,
            expected.filter((node, index) => index === 0 || node.length >= 32),
          );
        }
      }),
      { numRuns: 150 },
    );
  });
}

test("update in one batch gives the root of the same changes one by one", () => {
  const entry = fc.tuple(
    fc.oneof(nearKey, hashedKey, lateKey).map((bytes) => Uint8Array.from(bytes)),
    value,
  );
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 40 }), fc.array(entry), (first, second) => {
      const trie = keepingTrie();
      let single = EMPTY_TRIE_ROOT_BYTES;
      for (const e of [...first, ...second]) single = trie.put(single, [e]);
      const batch = trie.put(trie.put(EMPTY_TRIE_ROOT_BYTES, distinct(first)), distinct(second));
      assert.deepEqual(batch, single);
    }),
    { numRuns: 300 },
  );
});

for (const [name, key] of Object.entries({ nearKey, hashedKey, lateKey })) {
  test(`entries in their order leave each place with what the new root has there: ${name}`, () => {
    const entry = fc.tuple(
      key.map((bytes) => Uint8Array.from(bytes)),
      value,
    );
    const batches = fc.array(fc.array(entry, { maxLength: 40 }), { maxLength: 6 });
    fc.assert(
      fc.property(batches, (all) => {
        const places = new Map<string, TrieNode>();
        const textOf = (path: Uint8Array) => bytesToHex(path);
        const nodes: TrieNodeReader = {
          node(_owner, path, hash) {
            const newest = places.get(textOf(path));
            return newest && bytesToHex(newest.hash) === bytesToHex(hash) ? newest.rlp : undefined;
          },
        };
        const trie = createTrie(nodes, new ChunkedNodeCache(NODE_CACHE_BYTES_MIN), EMPTY_BYTES);
        let root = EMPTY_TRIE_ROOT_BYTES;
        for (const batch of all) {
          const entries = distinct(batch);
          const keys = entries.map(([key]) => key);
          const made = new NodeBatch();
          const changes = { keys, valueOf: (index: number) => entries[index]![1] };
          const update = trie.update(root, changes, made);
          root = update.root;
          for (let i = 0; i < made.size && !update.isSame; i++) {
            const path = textOf(made.path(i));
            if (made.isReplaced(i)) places.delete(path);
            else places.set(path, made.at(i));
          }
          assert.equal(nodesUnder(nodes, root), places.size);
        }
      }),
      { numRuns: 200 },
    );
  });
}

test("what is known of values, true or not, changes neither roots nor entries", () => {
  const entry = fc.tuple(
    fc.oneof(nearKey, hashedKey, lateKey).map((bytes) => Uint8Array.from(bytes)),
    fc.oneof(value, fc.constant(new Uint8Array(40).fill(1))),
  );
  const batches = fc.array(fc.array(entry, { maxLength: 40 }), { maxLength: 6 });
  fc.assert(
    fc.property(batches, fc.nat(4), (all, wrong) => {
      const nodes = createMemoryNodes();
      const trie = createTrie(nodes, NO_CACHE, EMPTY_BYTES);
      let root = EMPTY_TRIE_ROOT_BYTES;
      const values = new Map<string, Uint8Array | undefined>();
      for (const batch of all) {
        const entries = distinct(batch);
        const keys = entries.map(([key]) => key);
        const knownValue = (index: number) =>
          index % 5 === wrong ? new Uint8Array(35) : values.get(bytesToHex(keys[index]!));
        const olds: (Uint8Array | undefined)[] = [];
        const changes = {
          keys,
          valueOf(index: number, old: Uint8Array | undefined) {
            olds[index] = old?.slice();
            return entries[index]![1];
          },
        };
        const [made, expected] = [new NodeBatch(), new NodeBatch()];
        const update = trie.update(root, { ...changes, knownValue }, made);
        assert.deepEqual(
          olds,
          keys.map((key) => values.get(bytesToHex(key))),
        );
        assert.deepEqual(update, trie.update(root, changes, expected));
        const entriesOf = (batch: NodeBatch) => Array.from({ length: batch.size }, (_, i) => batch.at(i));
        assert.deepEqual(entriesOf(made), entriesOf(expected));
        nodes.keep(made);
        root = update.root;
        for (const [key, value] of entries) values.set(bytesToHex(key), value);
        for (const [i, key] of keys.entries()) {
          assert.deepEqual(trie.get(root, key, knownValue(i)), entries[i]![1]);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test("a leaf whose value is known is not read, and a leaf of such an update is not cached", () => {
  const keys = Array.from({ length: 4_000 }, (_, n) => keccak256(Uint8Array.of(n & 255, n >> 8)));
  const stored = createMemoryNodes();
  const cache = new ChunkedNodeCache(64 << 20);
  const built = new NodeBatch();
  const first = { keys, valueOf: (n: number) => new Uint8Array(40).fill(1 + (n & 1)) };
  const { root } = createTrie(stored, cache, EMPTY_BYTES).update(EMPTY_TRIE_ROOT_BYTES, first, built);
  stored.keep(built);
  const read: Uint8Array[] = [];
  const reader: TrieNodeReader = {
    node(owner, path, hash) {
      const rlp = stored.node(owner, path, hash);
      if (rlp !== undefined) read.push(rlp);
      return rlp;
    },
  };
  const trie = createTrie(reader, new ChunkedNodeCache(64 << 20), EMPTY_BYTES);
  const turn = (by: number) => ({
    keys,
    valueOf: (_: number, old: Uint8Array | undefined) => old?.map((byte) => byte + 1),
    knownValue: (n: number) => new Uint8Array(40).fill(by + (n & 1)),
  });
  for (const key of keys.slice(0, 100)) trie.get(root, key, turn(1).knownValue(keys.indexOf(key)));
  const next = trie.update(root, turn(1), built);
  const leavesRead = () => read.filter((rlp) => decodeNode(rlp).kind === "leaf").length;
  // Only below branches with nearly all of their children.
  assert.ok(leavesRead() < keys.length / 5, `${leavesRead()}`);
  assert.ok(read.length - leavesRead() > 1_000);
  stored.keep(built);
  read.length = 0;
  trie.update(next.root, turn(2), new NodeBatch());
  assert.equal(read.length, leavesRead());
  assert.ok(read.length < keys.length / 5);
});

/** Nodes with a hash of the trie `root`, each read from its place. */
function nodesUnder(nodes: TrieNodeReader, root: Uint8Array): number {
  if (bytesToHex(root) === EMPTY_TRIE_ROOT) return 0;
  const visit = (reference: Uint8Array, path: readonly number[]): number => {
    const isHash = reference.length === HASH_LENGTH;
    const rlp = isHash ? nodes.node(EMPTY_BYTES, Uint8Array.from(path), reference) : reference;
    assert.ok(rlp, `node at ${path}`);
    const node = decodeNode(rlp);
    let count = isHash ? 1 : 0;
    if (node.kind === "extension") count += visit(node.payload, [...path, ...node.path]);
    if (node.kind === "branch") {
      for (let n = 0; n < 16; n++) {
        const child = childReference(node, n);
        if (child !== undefined) count += visit(child, [...path, n]);
      }
    }
    return count;
  };
  return visit(root, []);
}

test("update returns the empty root when the last key goes", () => {
  const trie = keepingTrie();
  const keys = [1, 2, 3].map((n) => keccak256(Uint8Array.of(n)));
  const root = trie.put(
    EMPTY_TRIE_ROOT_BYTES,
    keys.map((key) => [key, key]),
  );
  const gone = trie.put(
    root,
    keys.map((key) => [key, undefined]),
  );
  assert.equal(bytesToHex(gone), EMPTY_TRIE_ROOT);
  assert.deepEqual(trie.prove(gone, keys[0]!), []);
});

test("update tells valueOf the value each key has, once", () => {
  const trie = keepingTrie();
  const keys = [...new Array(50).keys()].map((n) => keccak256(Uint8Array.of(n)));
  const root = trie.put(
    EMPTY_TRIE_ROOT_BYTES,
    keys.slice(0, 25).map((key, n) => [key, Uint8Array.of(n, 1)]),
  );
  const asked: (readonly [number, Uint8Array | undefined])[] = [];
  const changes = {
    keys,
    valueOf(index: number, old: Uint8Array | undefined) {
      asked.push([index, old?.slice()]);
      return old;
    },
  };
  trie.update(root, changes, new NodeBatch());
  assert.deepEqual(
    asked.sort(([a], [b]) => a - b),
    keys.map((_, n) => [n, n < 25 ? Uint8Array.of(n, 1) : undefined]),
  );
});

test("update without a difference has no nodes to keep", () => {
  const trie = keepingTrie();
  const keys = [...new Array(20).keys()].map((n) => keccak256(Uint8Array.of(n)));
  const root = trie.put(
    EMPTY_TRIE_ROOT_BYTES,
    keys.map((key) => [key, key]),
  );
  const batch = new NodeBatch();
  const again = trie.update(root, { keys, valueOf: (index) => keys[index] }, batch);
  assert.deepEqual(again, { root, isSame: true });
  const absent = keccak256(Uint8Array.of(99));
  const absence = trie.update(root, { keys: [absent], valueOf: () => undefined }, batch);
  assert.deepEqual(absence, { root, isSame: true });
});

test("an older root keeps its values and proofs after updates on top of it", () => {
  const trie = keepingTrie();
  const keys = [...new Array(100).keys()].map((n) => keccak256(Uint8Array.of(n)));
  const first = trie.put(
    EMPTY_TRIE_ROOT_BYTES,
    keys.map((key) => [key, key]),
  );
  const proofs = keys.map((key) => trie.prove(first, key));
  let root = first;
  for (let round = 1; round < 5; round++) {
    root = trie.put(
      root,
      keys.map((key, n) => [key, n % round === 0 ? undefined : Uint8Array.of(n, round)]),
    );
  }
  for (const [n, key] of keys.entries()) {
    assert.deepEqual(trie.get(first, key), key);
    assert.deepEqual(trie.prove(first, key), proofs[n]);
  }
});

test("a pruned node is a MissingTrieNodeError", () => {
  const trie = createTrie(createMemoryNodes(), new ChunkedNodeCache(NODE_CACHE_BYTES_MIN), EMPTY_BYTES);
  assert.throws(() => trie.get(keccak256(EMPTY_BYTES), Uint8Array.of(1)), MissingTrieNodeError);
  const changes = { keys: [Uint8Array.of(1)], valueOf: () => undefined };
  assert.throws(() => trie.update(keccak256(EMPTY_BYTES), changes, new NodeBatch()), MissingTrieNodeError);
});

test("update takes keys of up to 64 bytes, also when only their last nibble differs", async () => {
  const trie = keepingTrie();
  const keys = [0, 1, 16].map((last) => new Uint8Array(64).fill(9).with(63, last));
  const oracle = await createMPT();
  for (const key of keys) await oracle.put(key, key);
  const entries: Entry[] = keys.map((key) => [key, key]);
  const root = trie.put(EMPTY_TRIE_ROOT_BYTES, entries);
  assert.deepEqual(root, oracle.root());
  assert.deepEqual(trie.get(trie.put(root, [[keys[1]!, undefined]]), keys[0]!), keys[0]);
  const tooLong: Entry[] = [[new Uint8Array(65), keys[0]]];
  assert.throws(() => trie.put(root, tooLong), { name: "InvariantError" });
});

test("update refuses keys that are the same", () => {
  const changes = { keys: [Uint8Array.of(1), Uint8Array.of(1)], valueOf: () => Uint8Array.of(1) };
  assert.throws(() => keepingTrie().update(EMPTY_TRIE_ROOT_BYTES, changes, new NodeBatch()), {
    name: "InvariantError",
  });
});

test("verifyProof refuses proofs that were changed", () => {
  const trie = keepingTrie();
  const keys = [...new Array(100).keys()].map((n) => keccak256(Uint8Array.of(n)));
  const root = trie.put(
    EMPTY_TRIE_ROOT_BYTES,
    keys.map((key) => [key, key]),
  );
  const key = keys[0]!;
  const proof = trie.prove(root, key);
  assert.ok(proof.length > 1);
  const refuse = (changed: readonly Uint8Array[]) =>
    assert.throws(() => verifyProof(root, key, changed), InvalidProofError);
  refuse(proof.slice(0, -1));
  refuse([...proof, proof[0]!]);
  refuse(proof.toReversed());
  for (let n = 0; n < proof.length; n++) {
    const flipped = proof[n]!.slice();
    flipped[flipped.length - 1]! ^= 1;
    refuse(proof.with(n, flipped));
  }
  assert.throws(() => verifyProof(EMPTY_TRIE_ROOT_BYTES, key, proof), InvalidProofError);
  const junk = Uint8Array.of(0xc1, 0x80);
  assert.throws(() => verifyProof(keccak256(junk), key, [junk]), InvalidProofError);
});
