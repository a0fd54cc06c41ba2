import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { testAccount, transfer } from "../../test/support/consensus/mempool/pool-fixture.ts";
import { createFaultyDisk } from "../../test/support/store/storage/faulty-disk.ts";
import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../base/types/constants.ts";
import { ByteWriter } from "../store/storage/byte-io.ts";
import { openBlockLog } from "../store/storage/log/block-log.ts";
import { openLogDirectory } from "../store/storage/log/log-file.ts";
import { createMemoryLogDirectory } from "../store/storage/log/memory-log-directory.ts";
import { type Checkpoint, type DevJournal, type DevRecord, openDevJournal } from "./dev-journal.ts";
import { restoreDevState } from "./dev-state.ts";
import { type HeldTransaction, type PoolChanges, storedForm } from "./pool-history.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-dev-journal-"));
after(() => rmSync(folder, { recursive: true }));

const hash = `0x${"ab".repeat(32)}` as Hash;
const address = `0x${"cd".repeat(20)}` as Address;
const changes = {
  accounts: [
    {
      address,
      account: { nonce: 3n, balance: 2n ** 200n, codeHash: EMPTY_CODE_HASH },
      storage: new Map([[hash, 7n]]),
      storageCleared: false,
    },
  ],
  codes: new Map([[hash, Uint8Array.of(1, 2)]]),
};

const NO_CHANGES: PoolChanges = { added: new Map(), removed: new Map() };
const LARGE_BYTES = 100_000;
/** A pooled transaction of some size. */
const held = (nonce: number, bytes = 10): HeldTransaction =>
  transfer(testAccount(0), nonce, { data: new Uint8Array(bytes) });
const byHash = (...transactions: readonly HeldTransaction[]) =>
  new Map(transactions.map((transaction) => [storedForm(transaction).hash, transaction]));
const [first, second] = [held(0), held(1)];

const RECORDS: readonly DevRecord[] = [
  { kind: "settings", settings: { gasLimit: 2n ** 60n, automine: false, impersonated: [address] } },
  {
    kind: "settings",
    settings: { nextBlock: { number: 5, timestamp: 9, baseFeePerGas: 1n, prevRandao: hash } },
  },
  { kind: "patch", number: 4, hash, first: true, changes },
  {
    kind: "snapshot",
    id: 1,
    number: 4,
    hash,
    settings: {},
    isPatched: true,
    pool: { added: byHash(first, second), removed: new Map() },
  },
  {
    kind: "snapshot",
    id: 2,
    number: 4,
    hash,
    settings: { intervalMs: 5 },
    isPatched: false,
    pool: { added: byHash(held(2)), removed: byHash(first) },
  },
  { kind: "reverted", id: 2 },
  { kind: "reset" },
];

const CHECKPOINT: Checkpoint = {
  kind: "checkpoint",
  nextId: 9,
  records: RECORDS.filter(
    ({ kind }) => kind === "settings" || kind === "patch" || kind === "snapshot",
  ) as Checkpoint["records"],
};

/** With codes and transactions as plain bytes. */
function plain(record: DevRecord): DevRecord {
  if (record.kind === "checkpoint") {
    return { ...record, records: record.records.map(plain) as Checkpoint["records"] };
  }
  if (record.kind === "snapshot") {
    const { added, removed } = record.pool;
    return { ...record, pool: { added: storedForms(added), removed: storedForms(removed) } };
  }
  if (record.kind !== "patch") return record;
  const codes = new Map([...record.changes.codes].map(([key, code]) => [key, Uint8Array.from(code)]));
  return { ...record, changes: { ...record.changes, codes } };
}

function storedForms(transactions: PoolChanges["added"]) {
  return new Map(
    [...transactions].map(([key, transaction]) => {
      const { raw, ...stored } = storedForm(transaction);
      return [key, { ...stored, raw: Uint8Array.from(raw) }];
    }),
  );
}

const RECORDS_READ = RECORDS.map(plain);
const CHECKPOINT_READ = plain(CHECKPOINT);

const recordsOf = (journal: DevJournal) => Array.from(journal.records(), plain);

test("records come back as they were written, after the journal was closed", () => {
  const first = openDevJournal(openLogDirectory(join(folder, "journal")));
  for (const record of [...RECORDS, CHECKPOINT]) first.append(record);
  first.close();
  const second = openDevJournal(openLogDirectory(join(folder, "journal")));
  assert.deepEqual(recordsOf(second), [...RECORDS_READ, CHECKPOINT_READ]);
  second.close();
});

test("a journal that begins anew has the checkpoint and what came after it, and is large again when it has doubled", () => {
  const directory = createMemoryLogDirectory();
  const journal = openDevJournal(directory, 2_000);
  const one = RECORDS[0]!;
  for (let restarts = 0; restarts < 3; restarts++) {
    while (!journal.isLarge) journal.append(one);
    journal.restart(CHECKPOINT);
    assert.equal(journal.isLarge, false);
    assert.deepEqual(recordsOf(journal), [CHECKPOINT_READ]);
    assert.equal(directory.list().length, 1);
  }
  journal.append(one);
  assert.deepEqual(recordsOf(openDevJournal(directory)), [CHECKPOINT_READ, one]);
});

test("a journal that cannot begin anew goes on as it is", () => {
  for (let count = 0; count < 100; count++) {
    const { directory, failWriteAfter, heal } = createFaultyDisk();
    const journal = openDevJournal(directory, 100);
    for (const record of RECORDS) journal.append(record);
    failWriteAfter(count);
    journal.restart(CHECKPOINT);
    heal();
    const [one] = RECORDS as [DevRecord];
    journal.append(one);
    const kept = recordsOf(openDevJournal(directory));
    const wasWritten = kept[0]?.kind === "checkpoint";
    assert.deepEqual(kept, wasWritten ? [CHECKPOINT_READ, one] : [...RECORDS_READ, one]);
    assert.ok(count > 0 || !wasWritten);
    assert.ok(count < 99 || wasWritten);
  }
});

test("restoreDevState takes a checkpoint for all before it", () => {
  const header = { number: 4 };
  const chain = { head: () => ({ block: { hash, header } }) as never, blockHash: () => hash };
  const later: DevRecord = {
    kind: "snapshot",
    id: 9,
    number: 4,
    hash,
    settings: {},
    isPatched: false,
    pool: NO_CHANGES,
  };
  const before: readonly DevRecord[] = [
    { kind: "settings", settings: { automine: true, coinbase: address } },
    { kind: "patch", number: 3, hash, first: true, changes },
    { kind: "snapshot", id: 3, number: 3, hash, settings: {}, isPatched: false, pool: NO_CHANGES },
  ];
  const restored = restoreDevState([...before, CHECKPOINT, later], chain);
  assert.deepEqual(restored, { ...restoreDevState([...CHECKPOINT.records, later], chain), nextId: 10 });
  assert.deepEqual([...restored.snapshots.keys()], [1, 2, 9]);
  assert.deepEqual([...restored.patches.keys()], [4]);
  assert.equal(restoreDevState([...before, CHECKPOINT], chain).nextId, 9);
});

const snapshotOf = (id: number, pool: PoolChanges): DevRecord => ({
  kind: "snapshot",
  id,
  number: 4,
  hash,
  settings: {},
  isPatched: false,
  pool,
});

/** Bytes that `act` adds to the files of `directory`. */
function growth(directory: ReturnType<typeof createMemoryLogDirectory>, act: () => void): number {
  const bytes = () => directory.list().reduce((sum, name) => sum + directory.open(name).size(), 0);
  const before = bytes();
  act();
  return bytes() - before;
}

test("a journal stores each pooled transaction once, also after a restart of the journal or of the node", () => {
  const directory = createMemoryLogDirectory();
  const journal = openDevJournal(directory);
  const pool = {
    added: byHash(...Array.from({ length: 40 }, (_, nonce) => held(nonce, LARGE_BYTES))),
    removed: new Map(),
  };
  const again = (used: DevJournal, id: number) =>
    growth(directory, () => {
      used.append({ kind: "reverted", id: id - 1 });
      used.append(snapshotOf(id, pool));
    });
  assert.ok(growth(directory, () => journal.append(snapshotOf(1, pool))) > 40 * LARGE_BYTES);
  assert.ok(again(journal, 2) < 40 * 100);
  const opened = openDevJournal(directory);
  assert.equal([...opened.records()].length, 3);
  assert.ok(again(opened, 3) < 40 * 100);
  opened.restart({ kind: "checkpoint", nextId: 4, records: [snapshotOf(3, pool) as Checkpoint["records"][number]] });
  assert.ok(again(opened, 4) < 40 * 100);
  const restored = restoreDevState(openDevJournal(directory).records(), {
    head: () => ({ block: { hash, header: { number: 4 } } }) as never,
    blockHash: () => hash,
  });
  const kept = [...restored.snapshots.values()][0]!.pool;
  assert.deepEqual(storedForms(kept.added), storedForms(pool.added));
});

test("storeAhead writes a large pool in pieces of a megabyte, and leaves less than one to the snapshot", () => {
  const directory = createMemoryLogDirectory();
  const journal = openDevJournal(directory);
  const pool = {
    added: byHash(...Array.from({ length: 35 }, (_, nonce) => held(nonce, LARGE_BYTES))),
    removed: new Map(),
  };
  const pieces = journal.storeAhead(pool.added.values())[Symbol.iterator]();
  for (let piece = 0; piece < 3; piece++) {
    const bytes = growth(directory, () => assert.equal(pieces.next().done, false));
    assert.ok(bytes > 1 << 20 && bytes < (1 << 20) + 2 * LARGE_BYTES);
  }
  assert.equal(
    growth(directory, () => assert.equal(pieces.next().done, true)),
    0,
  );
  assert.ok(growth(directory, () => journal.append(snapshotOf(1, pool))) < 1 << 20);
  // A node that was killed before the snapshot has no snapshot.
  assert.deepEqual(recordsOf(openDevJournal(directory)), [plain(snapshotOf(1, pool))]);
});

test("restoreDevState uses up the snapshots of earlier builds, whose pool was in their text", () => {
  const directory = createMemoryLogDirectory();
  const log = openBlockLog({ directory });
  const text = JSON.stringify({
    kind: "snapshot",
    id: 7,
    number: 4,
    hash,
    settings: {},
    pool: [["0x01", address]],
    hasChanges: false,
  });
  const writer = new ByteWriter();
  writer.block(Buffer.from(text));
  writer.byte(0);
  writer.byte(0);
  log.append(writer.finish());
  log.close();
  const restored = restoreDevState(openDevJournal(directory).records(), {
    head: () => ({ block: { hash, header: { number: 4 } } }) as never,
    blockHash: () => hash,
  });
  assert.equal(restored.snapshots.size, 0);
  assert.equal(restored.nextId, 8);
});
