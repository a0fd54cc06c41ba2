import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createFaultyDisk } from "../../test/support/store/storage/faulty-disk.ts";
import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../evm/state/account.ts";
import { openLogDirectory } from "../store/storage/log-file.ts";
import { createMemoryLogDirectory } from "../store/storage/memory-log-directory.ts";
import { type Checkpoint, type DevJournal, type DevRecord, openDevJournal } from "./dev-journal.ts";
import { restoreDevState } from "./dev-state.ts";

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

const RECORDS: readonly DevRecord[] = [
  { kind: "settings", settings: { gasLimit: 2n ** 60n, automine: false, impersonated: [address] } },
  {
    kind: "settings",
    settings: { nextBlock: { number: 5, timestamp: 9, baseFeePerGas: 1n, prevRandao: hash } },
  },
  { kind: "patch", number: 4, hash, changes },
  { kind: "snapshot", id: 1, number: 4, hash, settings: {}, changes, pool: [["0x01", address]] },
  { kind: "snapshot", id: 2, number: 4, hash, settings: { intervalMs: 5 }, pool: [] },
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

/** With codes as plain bytes. */
function plain(record: DevRecord): DevRecord {
  if (record.kind === "checkpoint") {
    return { ...record, records: record.records.map(plain) as Checkpoint["records"] };
  }
  if (!("changes" in record) || record.changes === undefined) return record;
  const codes = new Map([...record.changes.codes].map(([key, code]) => [key, Uint8Array.from(code)]));
  return { ...record, changes: { ...record.changes, codes } };
}

const recordsOf = (journal: DevJournal) => Array.from(journal.records(), plain);

test("records come back as they were written, after the journal was closed", () => {
  const first = openDevJournal(openLogDirectory(join(folder, "journal")));
  for (const record of [...RECORDS, CHECKPOINT]) first.append(record);
  first.close();
  const second = openDevJournal(openLogDirectory(join(folder, "journal")));
  assert.deepEqual(recordsOf(second), [...RECORDS, CHECKPOINT]);
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
    assert.deepEqual(recordsOf(journal), [CHECKPOINT]);
    assert.equal(directory.list().length, 1);
  }
  journal.append(one);
  assert.deepEqual(recordsOf(openDevJournal(directory)), [CHECKPOINT, one]);
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
    assert.deepEqual(kept, wasWritten ? [CHECKPOINT, one] : [...RECORDS, one]);
    assert.ok(count > 0 || !wasWritten);
    assert.ok(count < 99 || wasWritten);
  }
});

test("restoreDevState takes a checkpoint for all before it", () => {
  const header = { number: 4 };
  const chain = { head: () => ({ block: { hash, header } }) as never, blockHash: () => hash };
  const later: DevRecord = { kind: "snapshot", id: 9, number: 4, hash, settings: {}, pool: [] };
  const before: readonly DevRecord[] = [
    { kind: "settings", settings: { automine: true, coinbase: address } },
    { kind: "patch", number: 3, hash, changes },
    { kind: "snapshot", id: 3, number: 3, hash, settings: {}, pool: [] },
  ];
  const restored = restoreDevState([...before, CHECKPOINT, later], chain);
  assert.deepEqual(restored, { ...restoreDevState([...CHECKPOINT.records, later], chain), nextId: 10 });
  assert.deepEqual([...restored.snapshots.keys()], [1, 2, 9]);
  assert.deepEqual([...restored.patches.keys()], [4]);
  assert.equal(restoreDevState([...before, CHECKPOINT], chain).nextId, 9);
});
