import { bytesToHex } from "../../../primitives/hex.ts";
import type { Kv, MissingRow } from "../../../storage/kv.ts";
import { LogCorruptionError, type LogReader } from "../../../storage/log-reader.ts";
import { TABLE } from "../../../storage/schema.ts";
import { VersionedTable } from "../../../storage/versioned-table.ts";
import {
  ACCOUNT_ENTRY_BYTES_MAX,
  accountEntryValue,
  SLOT_ENTRY_BYTES_MAX,
  slotEntryValue,
} from "../../records/changes-record.ts";
import {
  removeHashedAddress,
  removeHashedSlot,
  writeHashedAddress,
  writeHashedSlot,
} from "../hashed-keys.ts";

/** The accounts and slots of all states, whose old values are in the records of the log. */
export function createStateTables(
  kv: Kv,
  log: LogReader,
  missingRow: MissingRow | undefined,
): { readonly accounts: VersionedTable; readonly slots: VersionedTable } {
  const valueAt =
    (length: number, valueIn: typeof accountEntryValue) =>
    (key: Uint8Array, position: number): Uint8Array | undefined => {
      const value = valueIn(log.read(position, length), key);
      if (value === null) {
        throw new LogCorruptionError({ position, reason: `no entry of ${bytesToHex(key)}` });
      }
      return value;
    };
  const accounts = new VersionedTable({
    kv,
    latestTable: TABLE.account,
    historyTable: TABLE.accountHistory,
    baseTable: TABLE.accountBase,
    keyLength: 20,
    valueAt: valueAt(ACCOUNT_ENTRY_BYTES_MAX, accountEntryValue),
    missingRow,
    onFirstVersion: writeHashedAddress,
    onLastVersion: removeHashedAddress,
  });
  const slots = new VersionedTable({
    kv,
    latestTable: TABLE.slot,
    historyTable: TABLE.slotHistory,
    baseTable: TABLE.slotBase,
    keyLength: 52,
    valueAt: valueAt(SLOT_ENTRY_BYTES_MAX, slotEntryValue),
    missingRow,
    onFirstVersion: writeHashedSlot,
    onLastVersion: removeHashedSlot,
  });
  return { accounts, slots };
}
