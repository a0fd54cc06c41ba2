import type { Address } from "../../base/primitives/address.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Header } from "../../base/types/header.ts";
import type { Log } from "../../base/types/receipt.ts";
import { includedHash } from "../../base/types/transaction/impersonation.ts";
import type { StateChanges } from "../../evm/state/reader.ts";
import { ByteReader } from "../../store/storage/byte-io.ts";
import { decodeHeader, decodePrefix, itemOffsetsAt } from "./block-record.ts";
import { type ChangeRows, readChangesAndRows } from "./changes-record.ts";
import { readReceiptLogs } from "./receipt-record.ts";

/** What the index takes of an executed block. An `ExecutedBlock` has it too. */
export type IndexedParts = {
  readonly block: {
    readonly hash: Hash;
    readonly header: Header;
    readonly transactions: readonly { readonly hash: Hash }[];
  };
  readonly receipts: readonly IndexedReceipt[];
};

/** Its logs, or the bytes of them in a record, from `readReceiptLogs`. */
type IndexedReceipt = { readonly logs: readonly Log[] | Uint8Array };

const CHECKSUM_LENGTH = 4;
const SENDER_LENGTH = 20;
const WITHOUT_LOGS: IndexedReceipt = { logs: [] };

/**
 * The parts of a record that the index is made from, without decoding its transactions: a third of the time of `decodeBlockRecord`.
 * The log has verified the checksum of the record.
 * @throws MalformedBytesError, UnknownFormatError
 */
export function decodeIndexedParts(
  payload: Uint8Array,
): IndexedParts & { readonly changes: StateChanges; readonly rows: ChangeRows } {
  const { changesOffset } = decodePrefix(payload);
  const changes = readChangesAndRows(new ByteReader(payload, changesOffset));
  return { ...decodeHashesAndLogs(payload), ...changes };
}

/** The same without the changes. */
export function decodeHashesAndLogs(payload: Uint8Array): IndexedParts {
  const reading = readHashesAndLogs(payload);
  for (;;) {
    const next = reading.next();
    if (next.done) return next.value;
  }
}

/** `decodeHashesAndLogs` with a pause after each transaction: those of a full block take longer than a node may pause. */
export function* readHashesAndLogs(payload: Uint8Array): Generator<void, IndexedParts> {
  const prefix = decodePrefix(payload);
  const header = decodeHeader(payload);
  const offsets = new ByteReader(payload, itemOffsetsAt(prefix, 0));
  const reader = new ByteReader(payload);
  const transactions: { readonly hash: Hash }[] = [];
  const receipts: IndexedReceipt[] = [];
  for (let left = prefix.transactionCount; left > 0; left--) {
    reader.offset = offsets.u32() + CHECKSUM_LENGTH;
    const sender = reader.hex(SENDER_LENGTH) as Address;
    // The number of the block's logs before.
    reader.varint();
    transactions.push({ hash: includedHash(reader.block(), sender) });
    const logs = readReceiptLogs(reader);
    receipts.push(logs.length === 0 ? WITHOUT_LOGS : { logs });
    yield;
  }
  return { block: { hash: prefix.hash, header, transactions }, receipts };
}

/** One block as the index takes it. */
export type IndexedBlock = {
  readonly executed: IndexedParts;
  readonly rows: ChangeRows;
  /** of its record in the log */
  readonly position: number;
  /** log position after its record */
  readonly end: number;
};

export type GenesisRecord = Omit<IndexedBlock, "rows"> & {
  /** of the bytes of its state in the record */
  readonly offset: number;
};
