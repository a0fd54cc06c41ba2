import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { parseGenesis } from "../../../base/params/genesis.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import { createStateTrie } from "../../../evm/state/state-trie.ts";
import type { Kv } from "../../../store/storage/kv.ts";
import { openLmdbKv } from "../../../store/storage/lmdb/lmdb-kv.ts";
import { createMemoryLogDirectory } from "../../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../../store/storage/memory-kv.ts";
import { genesisRecord, genesisState } from "../../genesis-block.ts";
import { StateEntries } from "../../records/state-entries.ts";
import { StorePoisonedError } from "../../store-errors.ts";
import { deferNothing } from "../background-work.ts";
import { type LogBlockStore, openLogBlockStore } from "../log-block-store.ts";
import { HashedAddresses, writeHashedSlots } from "./genesis-rows.ts";
import { loadGenesisState } from "./load-genesis.ts";

const addressOf = (n: number) => keccak256Hash(Buffer.from(`account ${n}`)).slice(0, 42);
const slots = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, i) => [`0x${(i * i).toString(16)}`, `0x${(i + 1).toString(16)}`]),
  );

/** Accounts with and without nonce, code and storage; one code is longer than a batch of rows. */
function genesisWith(accounts: number) {
  const alloc: Record<string, object> = {};
  for (let i = 0; i < accounts; i++) {
    alloc[addressOf(i)] = {
      balance: `${BigInt(i) ** 12n}`,
      ...(i % 3 === 0 && { nonce: `0x${i.toString(16)}` }),
      ...(i % 7 === 0 && {
        code: `0x60${(i % 256).toString(16).padStart(2, "0")}`,
        storage: slots(i % 40),
      }),
    };
  }
  alloc[addressOf(-1)] = {
    balance: "0",
    code: `0x${"5b".repeat(1_100_000)}`,
    storage: slots(2_000),
  };
  return parseGenesis(JSON.stringify({ config: { chainId: 1 }, alloc, difficulty: "0x0", gasLimit: "0x1" }));
}

/** All rows once nothing waits for a merge. */
function rowsOf(index: Kv, store: LogBlockStore): string[] {
  while (store.mergeSome());
  return Array.from(index.range({}), ([key, value]) => `${bytesToHex(key)} ${bytesToHex(value)}`);
}

function open(failPoint = (_: string) => {}, index = createMemoryKv()) {
  const log = createMemoryLogDirectory();
  const reopen = (kv = index) =>
    openLogBlockStore({ defer: deferNothing, log, index: kv, createTrie: createStateTrie, failPoint });
  return { index, reopen, store: reopen() };
}

function withLmdb(use: (index: Kv) => void): void {
  const directory = mkdtempSync(join(tmpdir(), "evmint-genesis-"));
  const index = openLmdbKv(directory);
  try {
    use(index);
  } finally {
    index.close();
    rmSync(directory, { recursive: true });
  }
}

test("keys whose hashes have the same part in their rows are in the order of the keys", () => {
  // No such hashes are known: these are made up, of equal parts but the first, descending where the keys ascend.
  const numbers = [1, 2, 3, 4];
  const alloc: Record<string, object> = Object.fromEntries(
    numbers.map((n) => [`0x${`0${n}`.repeat(20)}`, { balance: "1" }]),
  );
  alloc[`0x${"05".repeat(20)}`] = { balance: "1", storage: { "0x1": "0x1", "0x2": "0x1", "0x3": "0x1", "0x4": "0x1" } };
  const genesis = parseGenesis(JSON.stringify({ config: { chainId: 1 }, alloc, difficulty: "0x0", gasLimit: "0x1" }));
  const entries = new StateEntries(genesisState(genesis).state());
  const hashes = new Uint8Array(32 * 5);
  for (const i of [0, 1, 2, 3, 4]) hashes.set(i === 0 ? [0] : [7], 32 * i);
  for (const i of [1, 2, 3, 4]) hashes[32 * i + 31] = 100 - i;
  const byHash = [0, 4, 3, 2, 1];

  const rows: string[] = [];
  const collect = { put: (key: Uint8Array) => void rows.push(bytesToHex(key)) };
  const addresses = new HashedAddresses(collect, entries, hashes);
  for (const index of byHash) addresses.add(index);
  addresses.finish();
  const part = (first: string) => first + "00".repeat(7);
  assert.deepEqual(
    rows.splice(0),
    [1, 2, 3, 4, 5].map((n) => `0x12${part(n === 1 ? "00" : "07")}${`0${n}`.repeat(20)}`),
  );

  writeHashedSlots(collect, entries, { slots: hashes, slotOrder: () => [0, 3, 2, 1] }, [0, 1, 2, 3, 4]);
  const slotRow = (n: number) =>
    `0x13${"05".repeat(20)}${part(n === 1 ? "00" : "07")}${n.toString(16).padStart(64, "0")}`;
  assert.deepEqual(rows, [1, 2, 3, 4].map(slotRow));
});

test("the rows of a genesis state are those that a block and its merge write", () => {
  for (const accounts of [0, 1, 2, 20, 1_500]) {
    const genesis = genesisWith(accounts);
    const record = genesisRecord(genesis);
    const loaded = open();
    loaded.store.appendGenesis(genesisState(genesis));
    assert.deepEqual(loaded.store.check().faults, []);

    const merged = open();
    const { root, nodes } = createStateTrie(merged.store.trieNodes).update(EMPTY_TRIE_ROOT, record.changes);
    assert.equal(root, record.block.header.stateRoot);
    merged.store.append(record, nodes);
    assert.deepEqual(rowsOf(loaded.index, loaded.store), rowsOf(merged.index, merged.store));
  }
});

test("LMDB holds the same rows of a genesis state, loaded at once and replayed from the log", () => {
  const genesis = genesisState(genesisWith(1_500));
  const inMemory = open();
  inMemory.store.appendGenesis(genesis);
  const expected = rowsOf(inMemory.index, inMemory.store);
  withLmdb((index) => {
    const onDisk = open(undefined, index);
    onDisk.store.appendGenesis(genesis);
    assert.deepEqual(rowsOf(index, onDisk.store), expected);
    assert.deepEqual(onDisk.store.check().faults, []);
    withLmdb((second) => {
      const rebuilt = onDisk.reopen(second);
      assert.equal(rebuilt.replayedBlocks, 1);
      assert.deepEqual(rowsOf(second, rebuilt), expected);
    });
  });
});

test("an exception while LMDB loads a genesis state leaves the rows of before", () => {
  const entries = new StateEntries(genesisState(genesisWith(300)).state());
  const place = () => ({ position: 24, offset: 300 });
  withLmdb((kv) => {
    kv.transaction((writer) => writer.put(Uint8Array.of(1), Uint8Array.of(2)));
    for (const last of [0, 1]) {
      let left = last;
      const onCommit = () => {
        if (left-- === 0) throw new Error("died");
      };
      assert.throws(() => loadGenesisState(entries, { kv, onCommit }, place), /died/);
      assert.deepEqual([...kv.range({})].length, 1);
    }
    loadGenesisState(entries, { kv, onCommit() {} }, place);
    assert.ok([...kv.range({})].length > 300);
  });
});

test("a process that dies while LMDB loads a genesis state has all of it after the next start", () => {
  const genesis = genesisState(genesisWith(300));
  for (const [last, isInLog] of [
    [0, false],
    [1, true],
  ] as const) {
    withLmdb((index) => {
      let left: number = last;
      const failed = open((name) => {
        if (name === "genesis:rows" && left-- === 0) throw new Error("died");
      }, index);
      assert.throws(() => failed.store.appendGenesis(genesis), /died/);
      const again = failed.reopen();
      assert.equal(again.head(), isInLog ? 0 : undefined);
      if (!isInLog) again.appendGenesis(genesis);
      assert.deepEqual(again.check().faults, []);
    });
  }
});

test("a process that dies in the middle of a genesis state has all of it after the next start", () => {
  const genesis = genesisState(genesisWith(800));
  const complete = open();
  complete.store.appendGenesis(genesis);
  const expected = rowsOf(complete.index, complete.store);

  const counts: number[] = [];
  const steps = open(() => counts.push(1));
  steps.store.appendGenesis(genesis);
  assert.ok(counts.length > 2);
  for (let last = 0; last < counts.length; last++) {
    let left = last;
    const failed = open(() => {
      if (left-- === 0) throw new Error("died");
    });
    assert.throws(() => failed.store.appendGenesis(genesis), /died/);
    const again = failed.reopen();
    if (again.head() === undefined) continue;
    assert.deepEqual(again.check().faults, []);
    assert.deepEqual(rowsOf(failed.index, again), expected);
  }
});

test("after a failure in a genesis state the store has to be opened again", () => {
  const genesis = genesisState(genesisWith(2));
  const failed = open((name) => {
    if (name === "genesis:rows") throw new Error("disk");
  });
  assert.throws(() => failed.store.appendGenesis(genesis), /disk/);
  assert.throws(() => failed.store.appendGenesis(genesis), StorePoisonedError);
});
