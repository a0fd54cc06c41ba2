import { type Hash, hashToBytes } from "../../../base/primitives/hash.ts";
import { ByteReader, ByteWriter, writeVarint } from "../../../store/storage/byte-io.ts";
import type { Kv, KvReader, KvWriter, MissingRow } from "../../../store/storage/kv.ts";
import { byPrefix, keyPrefix } from "../../../store/storage/row-order.ts";
import { INDEX_FORMAT, META, numberFromKey, numberKey, TABLE, tableKey } from "../../../store/storage/schema.ts";
import type { IndexedParts } from "../../records/indexed-block.ts";

/** What the rows of blocks would say that are not written yet. */
export interface UnwrittenRows {
  position(number: number): number | undefined;
  numberOf(blockHash: Hash): number | undefined;
  numberOfState(stateRoot: Hash): number | undefined;
  transaction(hash: Hash): TransactionPlace | undefined;
  code(codeHash: Hash): Uint8Array | undefined;
}

export type TransactionPlace = { readonly number: number; readonly index: number };

/** The rows that find blocks, transactions and states: by number, by hash, by state root. */
export class BlockRows {
  readonly #kv: Kv;
  readonly #missingRow: MissingRow;
  readonly #unwritten: UnwrittenRows | undefined;
  #isFormatWritten = false;

  /** @param unwritten of the newest blocks, for a reader beside the process that writes */
  constructor(kv: Kv, missingRow: MissingRow, unwritten?: UnwrittenRows) {
    this.#kv = kv;
    this.#missingRow = missingRow;
    this.#unwritten = unwritten;
  }

  /** Number of the first block; undefined in an empty store. */
  firstNumber(): number | undefined {
    const range = { from: tableKey(TABLE.position), to: tableKey(TABLE.position + 1), limit: 1 };
    for (const [key] of this.#kv.range(range)) return numberFromKey(key, 1);
    return undefined;
  }

  /** Position of a block's record. */
  position(number: number): number | undefined {
    return this.#unwritten?.position(number) ?? readVarint(this.#kv.get(positionKey(number)));
  }

  /** Position of a stored block's record. @throws KvMissingRowError */
  knownPosition(number: number): number {
    const position = this.position(number);
    if (position === undefined) throw this.#missingRow(positionKey(number));
    return position;
  }

  numberOf(blockHash: Hash): number | undefined {
    return this.#unwritten?.numberOf(blockHash) ?? readVarint(this.#kv.get(blockHashKey(blockHash)));
  }

  /** A block that has this state root. */
  numberOfState(stateRoot: Hash): number | undefined {
    return readVarint(this.#kv.get(stateRootKey(stateRoot))) ?? this.#unwritten?.numberOfState(stateRoot);
  }

  /** Where the transaction is. Callers compare the hash of what they read there: the key has a part of it. */
  transaction(hash: Hash): TransactionPlace | undefined {
    const unwritten = this.#unwritten?.transaction(hash);
    if (unwritten !== undefined) return unwritten;
    const bytes = hashToBytes(hash);
    const row = this.#kv.get(transactionKey(bytes)) ?? this.#kv.get(oldTransactionKey(bytes));
    if (row === undefined) return undefined;
    const reader = new ByteReader(row);
    return { number: reader.varint(), index: reader.varint() };
  }

  /** Writes the rows of a block, but for the one of its state root. */
  write(writer: KvWriter, { block }: IndexedParts, position: number): void {
    const { number } = block.header;
    writer.put(positionKey(number), varints(position));
    writer.put(blockHashKey(block.hash), varints(number));
    const hashes = block.transactions.map(({ hash }) => hashToBytes(hash));
    for (const index of byPrefix(hashes.length, (i) => keyPrefix(hashes[i]!))) {
      writer.put(transactionKey(hashes[index]!), varints(number, index));
    }
    this.#writeFormat(writer);
  }

  /** Writes the format of the index, unless an earlier transaction has written this one: no later one removes its row. */
  #writeFormat(writer: KvWriter): void {
    if (this.#isFormatWritten) return;
    const key = metaKey(META.format);
    if (readVarint(writer.get(key)) === INDEX_FORMAT) this.#isFormatWritten = true;
    else writer.put(key, varints(INDEX_FORMAT));
  }

  /** Writes the row of a state root, unless an earlier block has the same. */
  writeStateRoot(writer: KvWriter, stateRoot: Hash, number: number): void {
    const key = stateRootKey(stateRoot);
    if (writer.get(key) === undefined) writer.put(key, varints(number));
  }

  /** Removes all rows of the newest block. */
  removeNewest(writer: KvWriter, { block }: IndexedParts): void {
    const { number, stateRoot } = block.header;
    const rootKey = stateRootKey(stateRoot);
    if (readVarint(writer.get(rootKey)) === number) writer.remove(rootKey);
    this.remove(writer, block.hash, number);
    for (const { hash } of block.transactions) this.removeTransaction(writer, hashToBytes(hash), number);
  }

  /** Removes the rows that `write` wrote, but for transactions. */
  remove(writer: KvWriter, hash: Hash, number: number): void {
    writer.remove(blockHashKey(hash));
    writer.remove(positionKey(number));
  }

  /** Removes the row of a transaction of block `number`; a later block may have included it too. */
  removeTransaction(writer: KvWriter, hash: Uint8Array, number: number): void {
    for (const key of [transactionKey(hash), oldTransactionKey(hash)]) {
      if (readVarint(writer.get(key)) === number) writer.remove(key);
    }
  }

  /** The state of block `number` is no longer served: its root refers to block `next` if that has the same root. */
  moveStateRoot(writer: KvWriter, root: Hash, number: number, next: number | undefined): void {
    const key = stateRootKey(root);
    if (readVarint(writer.get(key)) !== number) return;
    if (next === undefined) writer.remove(key);
    else writer.put(key, varints(next));
  }
}

function blockHashKey(hash: Hash): Uint8Array {
  return tableKey(TABLE.blockByHash, hashToBytes(hash));
}

/** The bytes of a transaction hash or state root that identify it: enough that no collision can be found. */
const HASH_PART = 16;

function transactionKey(hash: Uint8Array): Uint8Array {
  return tableKey(TABLE.transaction, hash.subarray(0, HASH_PART));
}

/** As formats before 6 wrote it. */
function oldTransactionKey(hash: Uint8Array): Uint8Array {
  return tableKey(TABLE.transaction, hash);
}

/** The last block whose rows are in the index. */
export type Applied = {
  readonly number: number;
  readonly hash: Hash;
  /** log position after its record */
  readonly end: number;
};

/** What `kv` says about the last block in its index. */
export function readApplied(kv: KvReader): Applied | undefined {
  const row = kv.get(APPLIED_KEY);
  if (row === undefined) return undefined;
  const reader = new ByteReader(row);
  return { number: reader.varint(), hash: reader.hex(32) as Hash, end: reader.varint() };
}

export function writeApplied(writer: KvWriter, { number, hash, end }: Applied): void {
  const row = new ByteWriter(64);
  row.varint(number);
  row.hex(hash);
  row.varint(end);
  writer.put(APPLIED_KEY, row.finish());
}

/** Key of the row with the position of block `number`. */
function positionKey(number: number): Uint8Array {
  return tableKey(TABLE.position, numberKey(number));
}

export function codeKey(codeHash: Hash): Uint8Array {
  return tableKey(TABLE.code, hashToBytes(codeHash));
}

function stateRootKey(root: Hash): Uint8Array {
  return tableKey(TABLE.stateRoot, hashToBytes(root).subarray(0, HASH_PART));
}

export function metaKey(name: string): Uint8Array {
  return tableKey(TABLE.meta, Buffer.from(name, "latin1"));
}

/** Of 53 bits. */
const VARINT_LENGTH_MAX = 8;

export function varints(...values: readonly number[]): Uint8Array {
  const row = new Uint8Array(VARINT_LENGTH_MAX * values.length);
  let end = 0;
  for (const value of values) end = writeVarint(value, row, end);
  return row.subarray(0, end);
}

export function readVarint(row: Uint8Array | undefined): number | undefined {
  return row === undefined ? undefined : new ByteReader(row).varint();
}

const APPLIED_KEY = metaKey(META.applied);
