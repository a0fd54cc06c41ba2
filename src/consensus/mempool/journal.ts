import { NodeError } from "../../base/errors.ts";
import {
  ADDRESS_LENGTH,
  type Address,
  addressFromBytes,
  addressToBytes,
  ZERO_ADDRESS,
} from "../../base/primitives/address.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { decodeRlpAt, InvalidRlpError, rlpItemEnd } from "../../base/primitives/rlp.ts";
import { encodePooledTransaction } from "../../base/types/transaction/encode.ts";
import { recoverAuthority } from "../../base/types/transaction/sender.ts";
import type { Authorization } from "../../base/types/transaction/transaction.ts";
import { crc32Of } from "../../store/storage/crc32.ts";
import type { LogDirectory, LogFile } from "../../store/storage/log/log-file.ts";
import type { PooledTransaction } from "./pool.ts";

/** One entry of the pool's journal. */
export type JournalRecord =
  | {
      readonly kind: "added";
      /** Network form: a blob transaction with its sidecar */
      readonly transaction: Uint8Array;
      /** Unknown in journals of earlier builds. */
      readonly sender: Address | undefined;
      /** Signers of its authorizations (EIP-7702), undefined for an invalid one; absent if it has no authorizations. */
      readonly authorities?: readonly (Address | undefined)[];
    }
  | { readonly kind: "removed"; readonly hashes: readonly Hash[] };

/** What a file of the journal holds. */
type JournalContent = {
  /** Oldest first. */
  readonly records: readonly JournalRecord[];
  /** Bytes that are no record: the process died while it wrote, or the file was damaged. */
  readonly lostBytes: number;
};

const HEADER_LENGTH = 8;
const ADDED = 1;
const REMOVED = 2;
const ADDED_WITH_AUTHORITIES = 3;
const HASH_LENGTH = 32;
/** Of the body, after kind and sender. */
const SIGNERS_OFFSET = 1 + ADDRESS_LENGTH;

/*
 * A record:
 *
 *   CRC-32 of all that follows   4 bytes, little endian
 *   length of the body           4 bytes, little endian
 *   body                         01 ‖ sender (20) ‖ network form of the transaction, or
 *                                02 ‖ hash (32)*, one at least, or
 *                                03 ‖ sender (20) ‖ number of authorizations (2, little endian) ‖ the signer of each (20, zeros: none) ‖ network form
 *
 * The signers are stored because recovering them takes most of the time of a start. The checksum makes them as good as recovered.
 */

function recordOf({ tx, sender, sidecar }: PooledTransaction): Uint8Array {
  const authorities = tx.type === 4 ? encodeAuthorities(tx.authorizationList) : undefined;
  return encodeAdded(sender, encodePooledTransaction(tx, sidecar), authorities);
}

export function encodeAdded(sender: Address, transaction: Uint8Array, authorities?: Uint8Array): Uint8Array {
  const start = HEADER_LENGTH + SIGNERS_OFFSET;
  const end = start + (authorities?.length ?? 0);
  const body = new Uint8Array(end + transaction.length);
  body[HEADER_LENGTH] = authorities === undefined ? ADDED : ADDED_WITH_AUTHORITIES;
  body.set(addressToBytes(sender), HEADER_LENGTH + 1);
  if (authorities !== undefined) body.set(authorities, start);
  body.set(transaction, end);
  return sealed(body);
}

function encodeAuthorities(list: readonly Authorization[]): Uint8Array {
  const bytes = Buffer.alloc(2 + list.length * ADDRESS_LENGTH);
  bytes.writeUInt16LE(list.length);
  for (const [i, authorization] of list.entries()) {
    bytes.set(addressToBytes(recoverAuthority(authorization) ?? ZERO_ADDRESS), 2 + i * ADDRESS_LENGTH);
  }
  return bytes;
}

function encodeRemoved(hashes: readonly Hash[]): Uint8Array {
  const body = new Uint8Array(HEADER_LENGTH + 1 + hashes.length * HASH_LENGTH);
  body[HEADER_LENGTH] = REMOVED;
  let at = HEADER_LENGTH + 1;
  for (const hash of hashes) {
    body.set(hashToBytes(hash), at);
    at += HASH_LENGTH;
  }
  return sealed(body);
}

function sealed(record: Uint8Array): Uint8Array {
  const words = new DataView(record.buffer);
  words.setUint32(4, record.length - HEADER_LENGTH, true);
  words.setUint32(0, crc32Of(record, 4, record.length), true);
  return record;
}

/** A damaged record is skipped by its length; what follows it is read where its own checksum holds. */
function decodeJournal(file: Uint8Array): JournalContent {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.length);
  const records: JournalRecord[] = [];
  let lostBytes = 0;
  let at = 0;
  while (at + HEADER_LENGTH < bytes.length) {
    const end = at + HEADER_LENGTH + bytes.readUInt32LE(at + 4);
    if (end > bytes.length) break;
    const isWhole = bytes.readUInt32LE(at) === crc32Of(bytes, at + 4, end);
    const record = isWhole ? decodeBody(bytes.subarray(at + HEADER_LENGTH, end)) : undefined;
    if (record !== undefined) records.push(record);
    else lostBytes += end - at;
    at = end;
  }
  return { records, lostBytes: lostBytes + bytes.length - at };
}

function decodeBody(body: Buffer): JournalRecord | undefined {
  if (body[0] === REMOVED && body.length > 1 && body.length % HASH_LENGTH === 1) {
    const hashes: Hash[] = [];
    for (let at = 1; at < body.length; at += HASH_LENGTH)
      hashes.push(hashFromBytes(body.subarray(at, at + HASH_LENGTH)));
    return { kind: "removed", hashes };
  }
  if (body.length <= SIGNERS_OFFSET) return undefined;
  const sender = addressFromBytes(body.subarray(1, SIGNERS_OFFSET));
  // Copies: a view would hold the whole file in memory.
  if (body[0] === ADDED) return { kind: "added", sender, transaction: Uint8Array.from(body.subarray(SIGNERS_OFFSET)) };
  if (body[0] !== ADDED_WITH_AUTHORITIES || body.length <= SIGNERS_OFFSET + 2) return undefined;
  const first = SIGNERS_OFFSET + 2;
  const end = first + body.readUInt16LE(SIGNERS_OFFSET) * ADDRESS_LENGTH;
  if (body.length <= end) return undefined;
  const authorities: (Address | undefined)[] = [];
  for (let at = first; at < end; at += ADDRESS_LENGTH) {
    const authority = addressFromBytes(body.subarray(at, at + ADDRESS_LENGTH));
    authorities.push(authority === ZERO_ADDRESS ? undefined : authority);
  }
  return { kind: "added", sender, authorities, transaction: Uint8Array.from(body.subarray(end)) };
}

/**
 * The journal of earlier builds, in the form of go-ethereum's `transactions.rlp`: a row of RLP items, a list for a legacy transaction, a
 * string with its network form for any other one.
 */
function decodeRlpJournal(bytes: Uint8Array): JournalContent {
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

/** The transaction was rejected because the journal cannot be written. */
export class JournalWriteError extends NodeError {
  readonly code = "POOL_JOURNAL_WRITE";
}

/** A journal below this size, in bytes, is not rewritten: that would gain nothing. */
const REWRITE_BYTES_MIN = 1_048_576;
/** When the journal is rewritten, records are written in batches of this size, in bytes. */
const WRITE_BYTES = 1_048_576;

const EXTENSION = ".journal";
const RLP_EXTENSION = ".rlp";

/**
 * A pool's accepted transactions on disk, to restore waiting ones at the next start. Each write is with the operating system when `append`
 * returns: it survives the process but, unlike a block, not a power cut.
 *
 * A file is a sequence of records (`journal-record.ts`). File names count up; a new file begins with the content of the pool, and then the old
 * one is removed.
 */
export class PoolJournal {
  readonly #directory: LogDirectory;
  readonly #content: () => Iterable<PooledTransaction>;
  readonly #failPoint: (name: string) => void;
  #number = 0;
  #file: LogFile | undefined;
  /** Valid bytes of `#file`. */
  #size = 0;
  #rewriteSize = 0;
  /** Transactions of `#file` that left the pool because their nonce was used, and have no removal record. */
  #used: Hash[] = [];

  /**
   * @param content all pooled transactions
   * @param failPoint called by name before and after each step, for tests that crash there
   */
  constructor(
    directory: LogDirectory,
    content: () => Iterable<PooledTransaction>,
    failPoint: (name: string) => void = () => {},
  ) {
    this.#directory = directory;
    this.#content = content;
    this.#failPoint = failPoint;
  }

  /** Bytes in use. */
  get size(): number {
    return this.#size;
  }

  /** The records of earlier runs. Nothing changes until `resume` or `rewrite`. */
  read(): JournalContent {
    const contents = this.#directory.list().map((name) => {
      this.#number = Math.max(this.#number, numberIn(name));
      const bytes = this.#contentOf(name);
      return name.endsWith(RLP_EXTENSION) ? decodeRlpJournal(bytes) : decodeJournal(bytes);
    });
    return {
      records: contents.flatMap(({ records }) => records),
      lostBytes: contents.reduce((sum, { lostBytes }) => sum + lostBytes, 0),
    };
  }

  /** @throws JournalWriteError if it was not stored */
  append(transaction: PooledTransaction): void {
    this.#append(recordOf(transaction));
  }

  /** Stores that a transaction must not be restored. @throws JournalWriteError */
  appendRemoval(hash: Hash): void {
    this.#append(encodeRemoved([hash]));
  }

  /** Notes that a transaction must not be restored because its nonce is used. */
  noteUsed(hash: Hash): void {
    this.#used.push(hash);
  }

  /** Stores that the transactions of `noteUsed` must not be restored: their nonces are free again. @throws JournalWriteError */
  forgetUsed(): void {
    if (this.#used.length === 0) return;
    const removals = encodeRemoved(this.#used);
    if (this.#file === undefined || this.#size + removals.length > this.#rewriteSize) {
      this.rewrite();
      return;
    }
    this.#append(removals);
    this.#used = [];
  }

  /**
   * Continues the file of the last run, whose records match the pool.
   * @returns false unless there is exactly one such file
   * @throws JournalWriteError
   */
  resume(): boolean {
    const [name, ...others] = this.#directory.list();
    if (name === undefined || others.length > 0 || !name.endsWith(EXTENSION)) return false;
    try {
      const file = this.#directory.open(name);
      this.#file = file;
      this.#size = file.size();
      this.#rewriteSize = rewriteSizeAfter(this.#size);
      return true;
    } catch (cause) {
      throw writeError(cause);
    }
  }

  /**
   * Begins a new file with the content of the pool.
   * @throws JournalWriteError; the old file is then unchanged
   */
  rewrite(): void {
    const next = nameOf(++this.#number);
    let file: LogFile | undefined;
    try {
      file = this.#directory.open(next);
      file.truncate(0);
      const size = writeAll(file, this.#content());
      this.#failPoint("journal:copied");
      file.sync();
      this.#directory.sync();
      this.#file?.close();
      this.#file = file;
      this.#size = size;
      this.#rewriteSize = rewriteSizeAfter(size);
      this.#used = [];
    } catch (cause) {
      file?.close();
      if (file !== undefined) this.#directory.remove(next);
      throw writeError(cause);
    }
    this.#failPoint("journal:synced");
    for (const name of this.#directory.list()) if (name !== next) this.#directory.remove(name);
    this.#failPoint("journal:rewritten");
  }

  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  #append(record: Uint8Array): void {
    if (this.#file === undefined || this.#size > this.#rewriteSize) this.#tryRewrite();
    const file = this.#file!;
    this.#failPoint("journal:write");
    try {
      file.write(record, this.#size);
    } catch (cause) {
      truncateQuietly(file, this.#size);
      throw writeError(cause);
    }
    this.#size += record.length;
    this.#failPoint("journal:written");
  }

  /** If the journal cannot be rewritten, it continues to grow. */
  #tryRewrite(): void {
    try {
      this.rewrite();
    } catch (error) {
      if (this.#file === undefined) throw error;
      this.#rewriteSize = 2 * this.#size;
    }
  }

  #contentOf(name: string): Uint8Array {
    const file = this.#directory.open(name);
    try {
      const bytes = new Uint8Array(file.size());
      return bytes.subarray(0, file.read(bytes, 0));
    } finally {
      file.close();
    }
  }
}

/** Bytes written so far. */
function writeAll(file: LogFile, transactions: Iterable<PooledTransaction>): number {
  let size = 0;
  let batch: Uint8Array[] = [];
  let batchBytes = 0;
  const flush = () => {
    file.write(Buffer.concat(batch), size);
    size += batchBytes;
    batch = [];
    batchBytes = 0;
  };
  for (const transaction of transactions) {
    const record = recordOf(transaction);
    batch.push(record);
    batchBytes += record.length;
    if (batchBytes >= WRITE_BYTES) flush();
  }
  flush();
  return size;
}

/** A partial record must not exist at the next start: its transaction was rejected. */
function truncateQuietly(file: LogFile, size: number): void {
  try {
    file.truncate(size);
  } catch {
    // The next record overwrites it, and the checksum of a partial record is invalid.
  }
}

/** The size at which a journal that begins with `size` bytes is rewritten. */
function rewriteSizeAfter(size: number): number {
  return Math.max(REWRITE_BYTES_MIN, 2 * size);
}

function nameOf(number: number): string {
  return `${String(number).padStart(6, "0")}${EXTENSION}`;
}

function numberIn(name: string): number {
  return Number.parseInt(name, 10) || 0;
}

function writeError(cause: unknown): JournalWriteError {
  return new JournalWriteError("the journal of the transaction pool cannot be written", {}, { cause });
}
