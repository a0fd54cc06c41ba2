import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../state/account.ts";
import { openLogDirectory } from "../storage/log-file.ts";
import { type DevRecord, openDevJournal } from "./dev-journal.ts";

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

test("records come back as they were written, after the journal was closed", () => {
  const first = openDevJournal(openLogDirectory(join(folder, "journal")));
  for (const record of RECORDS) first.append(record);
  first.close();
  const second = openDevJournal(openLogDirectory(join(folder, "journal")));
  const read = [...second.records()].map((record) =>
    "changes" in record && record.changes
      ? {
          ...record,
          changes: {
            ...record.changes,
            codes: new Map([...record.changes.codes].map(([key, code]) => [key, Uint8Array.from(code)])),
          },
        }
      : record,
  );
  assert.deepEqual(read, RECORDS);
  second.close();
});
