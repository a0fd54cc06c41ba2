import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { RandomChain } from "../../../../test/support/chain/random-chain.ts";
import { addressFromBytes } from "../../../base/primitives/address.ts";
import { bytesToHex, hexToBytes } from "../../../base/primitives/hex.ts";
import { keccak256 } from "../../../base/primitives/keccak.ts";
import { encodeRlp } from "../../../base/primitives/rlp.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import { createStateTrie } from "../../../evm/state/state-trie.ts";
import { garbageCollector } from "../../../node/profiling/garbage-collection.ts";
import type { Kv } from "../../../store/storage/kv.ts";
import { createMemoryKv } from "../../../store/storage/memory-kv.ts";
import { numberKey, TABLE, tableKey } from "../../../store/storage/schema.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import { NodeHistory } from "./node-history.ts";
import { wholeVersion } from "./node-version.ts";
import { TrieNodeTable } from "./trie-node-table.ts";

const BLOCKS_OF_MERGE = 7;

function mergeAll(history: NodeHistory): void {
  history.beginMerge();
  while (history.mergingKeys > 0) history.mergeSome(5, () => false);
}

/** The rows of the versions of 60 blocks. */
function rowsOf(encodesAtOnce: boolean): readonly string[] {
  const kv: Kv = createMemoryKv();
  const history = new NodeHistory(kv, { encodesAtOnce });
  const table = new TrieNodeTable(createMemoryKv());
  const chain = new RandomChain(5);
  for (let number = 0; number < 60; number++) {
    const { nodes } = chain.next();
    history.remember(number, nodes, table);
    table.remember(number, nodes);
    if (number % BLOCKS_OF_MERGE === 0) mergeAll(history);
  }
  mergeAll(history);
  return Array.from(kv.range({}), ([key, row]) => `${bytesToHex(key)} ${bytesToHex(row)}`);
}

test("NodeHistory writes the same rows whether they are encoded at once or by the merge", () => {
  const rows = rowsOf(false);
  assert.ok(rows.length > 200, `${rows.length} rows`);
  assert.deepEqual(rowsOf(true), rows);
});

test("NodeHistory finds every version of a place in rows that have many of them, and forgets those of a block", () => {
  const kv = createMemoryKv();
  const history = new NodeHistory(kv);
  const table = new TrieNodeTable(createMemoryKv());
  const [owner, path] = [new Uint8Array(0), new Uint8Array(0)];
  const hashes: Uint8Array[] = [];
  let before: { rlp: Uint8Array; hash: Uint8Array } | undefined;
  for (let number = 0; number <= 1_000; number++) {
    const children = Array.from({ length: 16 }, (_, n) => new Uint8Array(32).fill(1 + ((number + n) >> 4)));
    const rlp = encodeRlp([...children, new Uint8Array(0)]);
    const hash = keccak256(rlp);
    const batch = new NodeBatch();
    if (before !== undefined) batch.note(owner, path, 0, before.hash);
    batch.add(owner, path, 0, rlp, rlp.length);
    history.remember(number, batch, table);
    table.remember(number, batch);
    hashes.push(hash);
    before = { rlp, hash };
    if (number % 400 === 399) mergeAll(history);
  }
  mergeAll(history);
  const rows = Array.from(kv.range({}));
  // A version has a child of 33 bytes, or is whole.
  assert.ok(rows.length > 8 && rows.length < 30, `${rows.length} rows`);
  assert.ok(rows.every(([, row]) => row.length <= 4_072));
  for (const [number, hash] of hashes.entries())
    assert.deepEqual(keccak256(history.find(owner, path, hash, number)!), hash);
  assert.equal(history.find(owner, path, hashes[500]!, 499), undefined);
  kv.transaction((writer) => {
    for (let number = 1_000; number > 600; number--) history.removeVersions(writer, owner, new Uint8Array(32), number);
  });
  assert.deepEqual(keccak256(history.find(owner, path, hashes[600]!, 900)!), hashes[600]);
  kv.transaction((writer) => history.prune(writer, owner, path, 450));
  assert.equal(history.find(owner, path, hashes[449]!, 449), undefined);
  for (const number of [450, 451, 520, 600]) {
    assert.deepEqual(keccak256(history.find(owner, path, hashes[number]!, number)!), hashes[number]);
  }
  const pruned = Array.from(kv.range({}));
  kv.transaction((writer) => history.prune(writer, owner, path, 450));
  assert.deepEqual(Array.from(kv.range({})), pruned);
});

test("NodeHistory reads versions in rows of their own, as formats before 5 wrote them, below those of a merge", () => {
  const kv = createMemoryKv();
  const history = new NodeHistory(kv);
  const [owner, path] = [new Uint8Array(0), new Uint8Array(0)];
  const nodes = [1, 2, 3].map((fill) =>
    encodeRlp([...Array(16).fill(new Uint8Array(32).fill(fill)), new Uint8Array(0)]),
  );
  const key = (number: number) => tableKey(TABLE.trieNodeVersion, Uint8Array.of(0x10), numberKey(number));
  kv.transaction((writer) => {
    writer.put(key(5), wholeVersion(nodes[0]!));
    writer.put(key(9), wholeVersion(nodes[1]!));
  });
  const batch = new NodeBatch();
  batch.add(owner, path, 0, nodes[2]!, nodes[2]!.length);
  history.remember(12, batch, new TrieNodeTable(createMemoryKv()));
  mergeAll(history);
  for (const [number, node] of [
    [5, 0],
    [8, 0],
    [9, 1],
    [11, 1],
    [12, 2],
    [20, 2],
  ] as const) {
    assert.deepEqual(history.find(owner, path, keccak256(nodes[node]!), number), nodes[node], `${number}`);
  }
  kv.transaction((writer) => history.removeVersions(writer, owner, new Uint8Array(32), 12));
  kv.transaction((writer) => history.removeVersions(writer, owner, new Uint8Array(32), 9));
  assert.deepEqual(history.find(owner, path, keccak256(nodes[0]!), 20), nodes[0]);
});

/** Passes a block of one node to `history`; the reference is to its batch. */
function rememberBlock(history: NodeHistory): WeakRef<NodeBatch> {
  const batch = new NodeBatch();
  const rlp = new Uint8Array(100).fill(200);
  batch.add(new Uint8Array(0), new Uint8Array(0), 0, rlp, rlp.length);
  history.remember(1, batch, new TrieNodeTable(createMemoryKv()));
  return new WeakRef(batch);
}

async function isCollected(batch: WeakRef<NodeBatch>): Promise<boolean> {
  // A WeakRef holds on until the end of the turn it was made in.
  await setImmediate();
  garbageCollector()();
  return batch.deref() === undefined;
}

test("NodeHistory holds the nodes of a block until their versions are written", async () => {
  const history = new NodeHistory(createMemoryKv());
  const batch = rememberBlock(history);
  assert.equal(await isCollected(batch), false);
  mergeAll(history);
  assert.equal(await isCollected(batch), true);
});

test("NodeHistory that encodes versions at once does not hold the nodes of a block", async () => {
  const history = new NodeHistory(createMemoryKv(), { encodesAtOnce: true });
  const batch = rememberBlock(history);
  assert.equal(await isCollected(batch), true);
  assert.ok(history.recentBytes > 100, "the row counts");
  history.forgetAfter(0);
  assert.equal(history.recentBytes, 0);
});

/** A state of 600 accounts, of which blocks change, remove and add some; its nodes near the root after each block, by path. */
function growNodes(history: NodeHistory): readonly ReadonlyMap<string, Uint8Array>[] {
  const table = new TrieNodeTable(createMemoryKv());
  const trie = createStateTrie(table);
  let root = EMPTY_TRIE_ROOT;
  const nodesOf: Map<string, Uint8Array>[] = [];
  for (let number = 0; number < 120; number++) {
    const indexes =
      number === 0
        ? Array.from({ length: 600 }, (_, i) => i)
        : Array.from({ length: 40 }, (_, i) => (number * 37 + i * i * 11) % 700);
    const changes = new Map(
      indexes.map((index) => [
        addressFromBytes(keccak256(Buffer.from(`account ${index}`)).subarray(12)),
        // Blocks 50 to 59 remove nearly all of them, so that places close to the root become empty.
        index % 3 !== 0 && (number % 7 === 3 || (number >= 50 && number < 60))
          ? null
          : { nonce: BigInt(number), balance: BigInt(index), codeHash: EMPTY_CODE_HASH },
      ]),
    );
    const accounts = Array.from(changes, ([address, account]) => ({
      address,
      account,
      storage: new Map(),
      storageCleared: false,
    }));
    const { root: next, nodes } = trie.update(root, { accounts, codes: new Map() });
    root = next;
    history.remember(number, nodes, table);
    table.remember(number, nodes);
    if (number % 25 === 24) mergeAll(history);
    const newest = new Map(nodesOf.at(-1));
    const added = Array.from({ length: nodes.size }, (_, i) => i).filter((i) => nodes.pathLength(i) <= 2);
    for (const i of added.filter((i) => nodes.isReplaced(i))) newest.delete(bytesToHex(nodes.path(i)));
    for (const i of added.filter((i) => !nodes.isReplaced(i)))
      newest.set(bytesToHex(nodes.path(i)), nodes.rlp(i).slice());
    nodesOf.push(newest);
  }
  mergeAll(history);
  return nodesOf;
}

test("NodeHistory stores no hash of a child that has versions of its own, and finds every node of every block", () => {
  const kv = createMemoryKv();
  const history = new NodeHistory(kv);
  const nodesOf = growNodes(history);
  const assertFinds = (number: number) => {
    for (const [path, rlp] of nodesOf[number]!) {
      const found = history.find(new Uint8Array(0), hexToBytes(path), keccak256(rlp), number);
      assert.deepEqual(found, rlp, `node ${path} of block ${number}`);
    }
  };
  for (const number of nodesOf.keys()) assertFinds(number);
  const bytesAt = (depth: number) => {
    const rows = Array.from(
      kv.range({ from: tableKey(TABLE.trieNodeVersions), to: tableKey(TABLE.trieNodeVersions + 1) }),
    );
    return rows.reduce((sum, [key, row]) => sum + (key.indexOf(0x10) === 1 + depth ? row.length : 0), 0);
  };
  assert.ok(bytesAt(1) * 3 < bytesAt(2), `${bytesAt(1)} and ${bytesAt(2)} bytes`);
  // Parents before their children, and the other way round.
  const paths = Array.from(nodesOf.at(-1)!.keys(), (path) => hexToBytes(path)).sort(Buffer.compare);
  for (const [last, order] of [
    [40, paths],
    [80, paths.toReversed()],
  ] as const) {
    for (const path of order) kv.transaction((writer) => history.prune(writer, new Uint8Array(0), path, last));
    for (let number = last; number < nodesOf.length; number++) assertFinds(number);
  }
});
