import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { createMemoryNodes } from "../../../test/support/store/trie/memory-nodes.ts";
import { NO_CACHE } from "../../../test/support/store/trie/no-cache.ts";
import { EMPTY_BYTES, equalBytes } from "../../base/primitives/bytes.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { FEW_KEYS_MAX, updateFewKeys } from "./few-keys.ts";
import { updateTrie } from "./in-place-update.ts";
import { NodeBatch } from "./node-batch.ts";
import { ChunkedNodeCache, NODE_CACHE_BYTES_MIN } from "./node-cache.ts";
import { createNodeSource } from "./node-store.ts";
import { HASH_ONLY } from "./ordered-trie-root.ts";
import type { NodeSink } from "./subtrie.ts";
import { createTrie } from "./trie.ts";
import { TrieUpdate } from "./trie-update.ts";

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
  const trie = createTrie(nodes, new ChunkedNodeCache(NODE_CACHE_BYTES_MIN), EMPTY_BYTES);
  let root: Uint8Array = EMPTY_TRIE_ROOT_BYTES;
  for (const turn of [1, 2]) {
    const batch = new NodeBatch();
    root = trie.update(root, changesTo(turn), batch).root;
    const built = updateTrie(EMPTY_TRIE_ROOT_BYTES, {
      source: undefined,
      changes: changesTo(turn),
      sink: HASH_ONLY,
    });
    assert.deepEqual(root, built);
    assert.ok(batch.bytes > 3 << 20);
    for (const { hash, rlp } of batch) {
      assert.deepEqual(hash, keccak256(rlp));
      stored.set(bytesToHex(hash), rlp);
    }
  }
});

/** Keys that share prefixes of all lengths, and values that make nodes shorter and longer than a hash, and longer than is hashed in place. */
const entry = fc.tuple(
  fc.oneof(
    fc.nat(300).map((n) => keccak256(Uint8Array.of(n & 255, n >> 8))),
    fc.array(fc.constantFrom(0x00, 0x01, 0x10, 0x11), { maxLength: 4 }).map((bytes) => Uint8Array.from(bytes)),
    fc.nat(40).map((n) => new Uint8Array(32).fill(7, 0, 31).fill(n, 31)),
  ),
  fc.oneof(
    fc.constant(undefined),
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom(new Uint8Array(100).fill(1), new Uint8Array(1_100).fill(2)),
  ),
);

test("an update in place asks and gives what the general one does", () => {
  fc.assert(
    fc.property(fc.array(fc.array(entry, { maxLength: 60 }), { maxLength: 6 }), (batches) => {
      const stored = createMemoryNodes();
      const source = createNodeSource(stored, NO_CACHE, EMPTY_BYTES);
      let root: Uint8Array = EMPTY_TRIE_ROOT_BYTES;
      for (const entries of batches) {
        const values = new Map(entries.map(([key, value]) => [bytesToHex(key), { key, value }]));
        const [general, inPlace] = [recordedUpdate(), recordedUpdate()];
        const modulesOf = ({ sink, olds }: ReturnType<typeof recordedUpdate>) => ({
          source,
          sink,
          changes: {
            keys: [...values.values()].map(({ key }) => key),
            valueOf(index: number, old: Uint8Array | undefined) {
              olds[index] = old && bytesToHex(old);
              return [...values.values()][index]!.value;
            },
          },
        });
        const expected = new TrieUpdate(modulesOf(general)).apply(root);
        assert.deepEqual(updateTrie(root, modulesOf(inPlace)), expected);
        assert.deepEqual(inPlace.olds, general.olds);
        assert.deepEqual(inPlace.added(), general.added());
        stored.keep(inPlace.batch);
        root = expected;
      }
    }),
    { numRuns: 300 },
  );
});

/** A leaf of a state trie: most updates of few keys change such ones, add some, and do nothing else. */
const stateEntry = fc.tuple(
  fc.nat(300).map((n) => keccak256(Uint8Array.of(n & 255, n >> 8))),
  fc.uint8Array({ minLength: 33, maxLength: 80 }),
);
const mostlyState = fc.oneof({ weight: 20, arbitrary: stateEntry }, { weight: 1, arbitrary: entry });
const fewEntries = fc.array(mostlyState, { minLength: 1, maxLength: FEW_KEYS_MAX });

test("an update of few keys asks and gives what the general one does, or nothing", () => {
  let direct = 0;
  let isAskedInVain = false;
  fc.assert(
    fc.property(fc.array(mostlyState, { maxLength: 60 }), fc.array(fewEntries, { maxLength: 8 }), (first, batches) => {
      const stored = createMemoryNodes();
      const source = createNodeSource(stored, NO_CACHE, EMPTY_BYTES);
      let root: Uint8Array = EMPTY_TRIE_ROOT_BYTES;
      for (const entries of [first, ...batches]) {
        const values = [...new Map(entries.map(([key, value]) => [bytesToHex(key), { key, value }])).values()];
        const [general, few] = [recordedUpdate(), recordedUpdate()];
        const changesOf = ({ olds }: ReturnType<typeof recordedUpdate>) => ({
          keys: values.map(({ key }) => key),
          valueOf(index: number, old: Uint8Array | undefined) {
            olds[index] = old && bytesToHex(old);
            return values[index]!.value;
          },
        });
        const expected = new TrieUpdate({ source, sink: general.sink, changes: changesOf(general) }).apply(root);
        if (entries !== first && !equalBytes(root, EMPTY_TRIE_ROOT_BYTES)) {
          const asked: (Uint8Array | undefined)[] = [];
          const modules = { owner: EMPTY_BYTES, source, cache: NO_CACHE, batch: few.batch };
          const next = updateFewKeys(root, changesOf(few), asked, modules);
          if (asked.length > 0) {
            assert.deepEqual(few.olds, general.olds);
            assert.deepEqual(
              asked,
              values.map(({ value }) => value),
            );
          }
          if (next === undefined) {
            isAskedInVain ||= asked.length > 0;
            assert.equal(few.batch.size, 0);
          } else {
            direct++;
            assert.deepEqual(next, expected);
            assert.deepEqual(few.added(), general.added());
          }
        }
        stored.keep(general.batch);
        root = expected;
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(direct > 100, `only ${direct} updates were direct`);
  assert.ok(isAskedInVain);
});

/** A sink with what it received, and the old values of an update. */
function recordedUpdate() {
  const batch = new NodeBatch();
  const sink: NodeSink = {
    add: (path, depth, rlp, length) => batch.add(EMPTY_BYTES, path, depth, rlp, length),
    addHashed: (bytes, start, depth, length) => batch.addHashed(EMPTY_BYTES, bytes, start, depth, length),
    replace() {},
  };
  const added = () =>
    new Map(Array.from(batch, ({ path, hash, rlp }) => [`${bytesToHex(path)} ${bytesToHex(hash)}`, bytesToHex(rlp)]));
  return { batch, sink, added, olds: [] as (string | undefined)[] };
}

test("an update that fails part way leaves nothing to the next one", () => {
  const keys = Array.from({ length: 300 }, (_, i) => keccak256(Uint8Array.of(i >> 8, i & 255)));
  const nodes = createMemoryNodes();
  const trie = createTrie(nodes, NO_CACHE, EMPTY_BYTES);
  const changesTo = (value: number, failsAt = -1) => ({
    keys,
    valueOf(index: number) {
      if (index === failsAt) throw new RangeError("no value");
      return new Uint8Array(60).fill(value + (index % 50));
    },
  });
  const update = (root: Uint8Array, changes: ReturnType<typeof changesTo>) => {
    const batch = new NodeBatch();
    const next = trie.update(root, changes, batch).root;
    nodes.keep(batch);
    return next;
  };
  const first = update(EMPTY_TRIE_ROOT_BYTES, changesTo(1));
  for (const failsAt of [0, 7, 150, 299]) assert.throws(() => update(first, changesTo(2, failsAt)), RangeError);
  assert.deepEqual(update(first, changesTo(3)), update(EMPTY_TRIE_ROOT_BYTES, changesTo(3)));
});
