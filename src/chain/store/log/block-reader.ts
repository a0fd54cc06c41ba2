import type { Address } from "../../../base/primitives/address.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { allAtOnce, inSlices, type Steps } from "../../../base/threads/in-slices.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import type { Block, ExecutedBlock } from "../../../base/types/block.ts";
import type { Header } from "../../../base/types/header.ts";
import type { Receipt } from "../../../base/types/receipt.ts";
import type { StateChanges } from "../../../evm/state/reader.ts";
import { changedAddresses } from "../../../evm/state/state-changes.ts";
import { MalformedBytesError } from "../../../store/storage/byte-io.ts";
import { LogCorruptionError, LogReader } from "../../../store/storage/log/log-reader.ts";
import type { GasPayment, RecordItem } from "../../block-store.ts";
import { type BlockRecord, gasPaymentsOf, type IncludedTransaction, includedTransaction } from "../../block-store.ts";
import { type AddressParts, addressPartsOf } from "../../records/block-addresses.ts";
import {
  decodeAccessListSection,
  decodeAddressParts,
  decodeChangedAddresses,
  decodeGasPayments,
  decodeHeaderSection,
  decodeInSteps,
  decodeItem,
  decodePrefix,
  decodeStateChanges,
  itemOffsetsAt,
  PREFIX_LENGTH,
  type RecordPrefix,
} from "../../records/block-record.ts";

/** Hashes that are cached: BLOCKHASH reaches so far back. And headers, of some 1.5 KB: indexers call on the same old state again and again. */
const CACHED_MAX = 256;

type CachedHash = { readonly number: number; readonly hash: Hash };

/**
 * Reads blocks from the log: whole ones, keeping the last of them decoded, or a header, hash or transaction without decoding the rest.
 * Callers pass only numbers of stored blocks.
 */
export class BlockReader {
  readonly #log: LogReader;
  readonly #positionOf: (number: number) => number;
  readonly #decoded: DecodedBlocks;
  /** Blocks that are being decoded in slices, by number: no more than there are calls. */
  readonly #underWay = new Map<number, Promise<DecodedRecord>>();
  /** What was read last of the numbers that are equal modulo CACHED_MAX. */
  readonly #hashes: (CachedHash | undefined)[] = [];
  readonly #headers: (Header | undefined)[] = [];

  /**
   * @param positionOf log position of a stored block's record
   * @param bytesMax memory of decoded blocks
   */
  constructor(log: LogReader, positionOf: (number: number) => number, bytesMax: number) {
    this.#log = log;
    this.#positionOf = positionOf;
    this.#decoded = new DecodedBlocks(bytesMax);
  }

  /** Memory of decoded blocks. */
  get decodedBytes(): number {
    return this.#decoded.bytes;
  }

  /** @throws LogCorruptionError */
  block(number: number): ExecutedBlock {
    return this.record(number).executed;
  }

  /** The block with its changes. @throws LogCorruptionError */
  record(number: number): DecodedRecord {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return decoded;
    const record = allAtOnce(this.#decoding(number));
    this.#decoded.addOlder(number, record);
    return record;
  }

  /** The same in slices where it is not decoded yet: a full block takes some 10 ms. @throws LogCorruptionError */
  blockInSlices(number: number, slices: SharedSlices): MaybePromise<ExecutedBlock> {
    return andThen(this.#recordInSlices(number, slices), ({ executed }) => executed);
  }

  #recordInSlices(number: number, slices: SharedSlices): MaybePromise<DecodedRecord> {
    const known = this.#decoded.get(number) ?? this.#underWay.get(number);
    if (known !== undefined) return known;
    const record = inSlices(this.#decoding(number), slices);
    if (!(record instanceof Promise)) {
      this.#decoded.addOlder(number, record);
      return record;
    }
    const underWay = record
      .then((decoded) => {
        // Not if the chain was rolled back meanwhile, or somebody could not wait for it.
        const isWanted = this.#underWay.get(number) === underWay && this.#decoded.get(number) === undefined;
        if (isWanted) this.#decoded.addOlder(number, decoded);
        return decoded;
      })
      .finally(() => {
        if (this.#underWay.get(number) === underWay) this.#underWay.delete(number);
      });
    this.#underWay.set(number, underWay);
    return underWay;
  }

  #decoding(number: number): Steps<DecodedRecord> {
    return DecodedRecord.decode(this.#log.record(this.#positionOf(number)).payload);
  }

  /** The same for the address index: what is not decoded yet is decoded as it is read, and not stored. @throws LogCorruptionError */
  addressParts(number: number): AddressParts {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return addressPartsOf(decoded, decoded.changedAddresses);
    return decodeAddressParts(this.#log.record(this.#positionOf(number)).payload);
  }

  /** How many transactions a block has. @throws LogCorruptionError */
  transactionCount(number: number): number {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return decoded.block.transactions.length;
    return this.#prefix(number, this.#positionOf(number)).transactionCount;
  }

  /** What each transaction paid for its gas, without decoding the rest of a block that is not decoded yet. @throws LogCorruptionError */
  gasPayments(number: number): readonly GasPayment[] {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return gasPaymentsOf(decoded);
    return decodeGasPayments(this.#log.record(this.#positionOf(number)).payload);
  }

  /** @throws LogCorruptionError */
  header(number: number): Header {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return decoded.block.header;
    const slot = number % CACHED_MAX;
    const read = this.#headers[slot];
    if (read?.number === number) return read;
    const position = this.#positionOf(number);
    const { offsetsOffset } = this.#prefix(number, position);
    const header = this.#part(position, PREFIX_LENGTH, offsetsOffset, decodeHeaderSection);
    this.#headers[slot] = header;
    return header;
  }

  /** RLP of the block access list, read without the rest of the block. @throws LogCorruptionError */
  accessList(number: number): Uint8Array | undefined {
    const header = this.header(number);
    if (header.blockAccessListHash === undefined) return undefined;
    const position = this.#positionOf(number);
    const { restOffset, changesOffset } = this.#prefix(number, position);
    return this.#part(position, restOffset, changesOffset, (section) => decodeAccessListSection(section, header));
  }

  /** @throws LogCorruptionError */
  hash(number: number): Hash {
    const slot = number % CACHED_MAX;
    const read = this.#hashes[slot];
    if (read?.number === number) return read.hash;
    const { hash } = this.#prefix(number, this.#positionOf(number));
    this.#hashes[slot] = { number, hash };
    return hash;
  }

  /**
   * undefined: the block has no transaction `index`
   * @throws LogCorruptionError
   */
  transaction(number: number, index: number): IncludedTransaction | undefined {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return includedTransaction(decoded, index);
    const position = this.#positionOf(number);
    const prefix = this.#prefix(number, position);
    if (index >= prefix.transactionCount) return undefined;
    const offsets = this.#log.read(LogReader.payloadPosition(position, itemOffsetsAt(prefix, index)), 8);
    if (offsets.length < 8) throw damaged(position, "offsets of a block end early");
    const start = offsets.readUInt32LE(0);
    const end = offsets.readUInt32LE(4);
    if (start > end || end > prefix.restOffset) throw damaged(position, "offsets of a block");
    const item: RecordItem = this.#part(position, start, end, decodeItem);
    return { ...item, index, blockHash: prefix.hash, blockNumber: number };
  }

  /** Notes the block after all others, just appended. @param payload of its record in the log */
  addHead(record: BlockRecord, payload: Uint8Array): void {
    const { hash, header } = record.block;
    const { changes } = record;
    const changed = changes.accounts.length > CHANGED_MAX ? undefined : changedAddresses(changes);
    this.#decoded.addHead(header.number, new DecodedRecord(record, payload, changed));
    this.#hashes[header.number % CACHED_MAX] = { number: header.number, hash };
  }

  forgetAfter(number: number): void {
    this.#decoded.forgetAfter(number);
    for (const block of this.#underWay.keys()) if (block > number) this.#underWay.delete(block);
    this.#hashes.length = 0;
    this.#headers.length = 0;
  }

  #prefix(number: number, position: number): RecordPrefix {
    const prefix = this.#part(position, 0, PREFIX_LENGTH, decodePrefix);
    if (prefix.number !== number) {
      throw damaged(position, `block ${prefix.number} where ${number} was expected`);
    }
    return prefix;
  }

  /** What `decode` makes of bytes `start` to `end` of the record at `position`, which carry their own checksum. */
  #part<T>(position: number, start: number, end: number, decode: (bytes: Uint8Array) => T): T {
    const bytes = this.#log.read(LogReader.payloadPosition(position, start), end - start);
    if (bytes.length < end - start) throw damaged(position, "record ends early");
    try {
      return decode(bytes);
    } catch (cause) {
      if (!(cause instanceof MalformedBytesError)) throw cause;
      throw damaged(position, cause.message, cause);
    }
  }
}

function damaged(position: number, reason: string, cause?: Error): LogCorruptionError {
  return new LogCorruptionError({ position, reason }, cause && { cause });
}

/** Memory of a decoded block as a multiple of the size of its record in the log. */
const DECODED_FACTOR = 5;

/**
 * Decoded blocks by number: the newest, which most callers ask for, and those used last of the older ones. Each of the two takes up to
 * half of the memory.
 */
export class DecodedBlocks {
  /** Of records, for each of the two. */
  readonly #bytesMax: number;
  /** In order of number, and in order of use. */
  readonly #newest = new Map<number, DecodedRecord>();
  readonly #older = new Map<number, DecodedRecord>();
  #newestBytes = 0;
  #olderBytes = 0;

  /** @param bytesMax memory of all decoded blocks; the newest one may exceed it */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax / DECODED_FACTOR / 2;
  }

  /** Memory of the decoded blocks. */
  get bytes(): number {
    return (this.#newestBytes + this.#olderBytes) * DECODED_FACTOR;
  }

  get(number: number): DecodedRecord | undefined {
    const newest = this.#newest.get(number);
    if (newest !== undefined) return newest;
    const older = this.#older.get(number);
    if (older === undefined) return undefined;
    this.#older.delete(number);
    this.#older.set(number, older);
    return older;
  }

  /** The block after all others. The newest one stays whatever its size. */
  addHead(number: number, record: DecodedRecord): void {
    this.#newest.set(number, record);
    this.#newestBytes += record.length;
    for (const [oldest, { length }] of this.#newest) {
      if (this.#newestBytes <= this.#bytesMax || oldest === number) break;
      this.#newest.delete(oldest);
      this.#newestBytes -= length;
    }
  }

  /** A block read again. */
  addOlder(number: number, record: DecodedRecord): void {
    this.#older.set(number, record);
    this.#olderBytes += record.length;
    for (const [leastUsed, { length }] of this.#older) {
      if (this.#olderBytes <= this.#bytesMax) break;
      this.#older.delete(leastUsed);
      this.#olderBytes -= length;
    }
  }

  /** Forgets the blocks after `number`. */
  forgetAfter(number: number): void {
    for (const [block, { length }] of this.#newest) {
      if (block > number && this.#newest.delete(block)) this.#newestBytes -= length;
    }
    for (const [block, { length }] of this.#older) {
      if (block > number && this.#older.delete(block)) this.#olderBytes -= length;
    }
  }
}

/** The index of addresses asks a block for its changed accounts soon. More of them are decoded then, so that they need not live that long as texts. */
const CHANGED_MAX = 16;

/** A block as it stays decoded. Its changes, which few callers ask for, are most of its objects: they are decoded each time. */
export class DecodedRecord implements BlockRecord {
  /** The block without the rest: plain data, which crosses threads and processes. */
  readonly executed: ExecutedBlock;
  readonly block: Block;
  readonly senders: readonly Address[];
  readonly receipts: readonly Receipt[];
  readonly consensusData: Uint8Array;
  readonly #payload: Uint8Array;
  readonly #changed: readonly Address[] | undefined;

  /**
   * @param payload of the record in the log
   * @param changed accounts of its changes, where they are to stay decoded
   */
  constructor(record: Omit<BlockRecord, "changes">, payload: Uint8Array, changed?: readonly Address[]) {
    const { block, senders, receipts } = record;
    this.executed = { block, senders, receipts };
    this.block = block;
    this.senders = senders;
    this.receipts = receipts;
    this.consensusData = record.consensusData;
    this.#payload = payload;
    this.#changed = changed;
  }

  /** @throws what `decodeBlockRecord` throws */
  static *decode(payload: Uint8Array): Generator<undefined, DecodedRecord> {
    return new DecodedRecord(yield* decodeInSteps(payload), payload);
  }

  get changes(): StateChanges {
    return decodeStateChanges(this.#payload);
  }

  /** Those of `changes`, without the rest. */
  get changedAddresses(): Iterable<Address> {
    return this.#changed ?? decodeChangedAddresses(this.#payload);
  }

  /** Of the record. */
  get length(): number {
    return this.#payload.length;
  }
}
