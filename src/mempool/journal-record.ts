import { crc32 } from "node:zlib";
import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../primitives/hash.ts";
import { decodeRlpAt, InvalidRlpError, rlpItemEnd } from "../primitives/rlp.ts";

/** One entry of the pool's journal. */
export type JournalRecord =
  | {
      readonly kind: "added";
      /** Network form: a blob transaction with its sidecar */
      readonly transaction: Uint8Array;
      /** Unknown in journals of earlier builds. */
      readonly sender: Address | undefined;
    }
  | { readonly kind: "removed"; readonly hash: Hash };

/** What a file of the journal holds. */
export type JournalContent = {
  /** Oldest first. */
  readonly records: readonly JournalRecord[];
  /** Bytes that are no record: the process died while it wrote, or the file was damaged. */
  readonly lostBytes: number;
};

const HEADER_LENGTH = 8;
const ADDED = 1;
const REMOVED = 2;
const ADDRESS_LENGTH = 20;
const HASH_LENGTH = 32;

/*
 * A record:
 *
 *   CRC-32 of all that follows   4 bytes, little endian
 *   length of the body           4 bytes, little endian
 *   body                         01 ‖ sender (20) ‖ network form of the transaction, or
 *                                02 ‖ hash (32)
 *
 * The sender is stored because recovering it takes most of the time of a start. The checksum makes it as good as recovered.
 */

export function encodeAdded(sender: Address, transaction: Uint8Array): Uint8Array {
  const body = Buffer.allocUnsafe(HEADER_LENGTH + 1 + ADDRESS_LENGTH + transaction.length);
  body[HEADER_LENGTH] = ADDED;
  body.set(addressToBytes(sender), HEADER_LENGTH + 1);
  body.set(transaction, HEADER_LENGTH + 1 + ADDRESS_LENGTH);
  return sealed(body);
}

export function encodeRemoved(hash: Hash): Uint8Array {
  const body = Buffer.allocUnsafe(HEADER_LENGTH + 1 + HASH_LENGTH);
  body[HEADER_LENGTH] = REMOVED;
  body.set(hashToBytes(hash), HEADER_LENGTH + 1);
  return sealed(body);
}

function sealed(record: Buffer): Uint8Array {
  record.writeUInt32LE(record.length - HEADER_LENGTH, 4);
  record.writeUInt32LE(crc32(record.subarray(4)), 0);
  return record;
}

/** A damaged record is skipped by its length; what follows it is read where its own checksum holds. */
export function decodeJournal(file: Uint8Array): JournalContent {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const records: JournalRecord[] = [];
  let lostBytes = 0;
  let at = 0;
  while (at + HEADER_LENGTH < bytes.length) {
    const end = at + HEADER_LENGTH + bytes.readUInt32LE(at + 4);
    if (end > bytes.length) break;
    const isWhole = bytes.readUInt32LE(at) === crc32(bytes.subarray(at + 4, end));
    const record = isWhole ? decodeBody(bytes.subarray(at + HEADER_LENGTH, end)) : undefined;
    if (record !== undefined) records.push(record);
    else lostBytes += end - at;
    at = end;
  }
  return { records, lostBytes: lostBytes + bytes.length - at };
}

function decodeBody(body: Uint8Array): JournalRecord | undefined {
  if (body[0] === REMOVED && body.length === 1 + HASH_LENGTH) {
    return { kind: "removed", hash: hashFromBytes(body.subarray(1)) };
  }
  if (body[0] !== ADDED || body.length <= 1 + ADDRESS_LENGTH) return undefined;
  return {
    kind: "added",
    sender: addressFromBytes(body.subarray(1, 1 + ADDRESS_LENGTH)),
    // A copy: a view would hold the whole file in memory.
    transaction: Uint8Array.from(body.subarray(1 + ADDRESS_LENGTH)),
  };
}

/**
 * The journal of earlier builds, in the form of go-ethereum's `transactions.rlp`: a row of RLP items, a list for a legacy transaction, a
 * string with its network form for any other one.
 */
export function decodeRlpJournal(bytes: Uint8Array): JournalContent {
  const records: JournalRecord[] = [];
  let at = 0;
  for (let item = itemAt(bytes, at); item !== undefined; item = itemAt(bytes, at)) {
    records.push({ kind: "added", transaction: item.transaction.slice(), sender: undefined });
    at = item.end;
  }
  return { records, lostBytes: bytes.length - at };
}

/** The item that begins at `offset` and its end; undefined where none does. */
function itemAt(bytes: Uint8Array, offset: number) {
  try {
    if (bytes[offset]! >= 0xc0) {
      const end = rlpItemEnd(bytes, offset);
      return { transaction: bytes.subarray(offset, end), end };
    }
    const { item, end } = decodeRlpAt(bytes, offset);
    return { transaction: item as Uint8Array, end };
  } catch (error) {
    if (error instanceof InvalidRlpError) return undefined;
    throw error;
  }
}
