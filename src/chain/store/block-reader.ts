import type { Hash } from "../../primitives/hash.ts";
import { MalformedBytesError } from "../../storage/byte-io.ts";
import { LogCorruptionError, LogReader } from "../../storage/log-reader.ts";
import type { Header } from "../../types/header.ts";
import { type AddressParts, addressPartsOf } from "../addresses/block-addresses.ts";
import {
  decodeAddressParts,
  decodeHeaderSection,
  decodeItem,
  decodePrefix,
  itemOffsetsAt,
  PREFIX_LENGTH,
  type RecordPrefix,
} from "../records/block-record.ts";
import type { RecordItem } from "../records/record-item.ts";
import type { BlockRecord, IncludedTransaction } from "./block-store.ts";
import { DecodedBlocks } from "./decoded-blocks.ts";
import { DecodedRecord } from "./decoded-record.ts";
import { includedTransaction } from "./included-transaction.ts";

/** BLOCKHASH reaches so far back. */
const HASHES_MAX = 256;

/**
 * Blocks read from the log: whole ones, the last of which stay decoded, or one header, hash or
 * transaction without decoding the rest of its block. Callers ask only for blocks that are stored.
 */
export class BlockReader {
  readonly #log: LogReader;
  readonly #positionOf: (number: number) => number;
  readonly #decoded: DecodedBlocks;
  /** The hash read last of the numbers that are equal modulo HASHES_MAX. */
  readonly #hashes: ({ readonly number: number; readonly hash: Hash } | undefined)[] = [];

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
  block(number: number): BlockRecord {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return decoded;
    const { payload } = this.#log.record(this.#positionOf(number));
    const record = DecodedRecord.decode(payload);
    this.#decoded.addOlder(number, record);
    return record;
  }

  /** The same for the address index: what is not decoded yet is decoded as it is read, and not stored. @throws LogCorruptionError */
  addressParts(number: number): AddressParts {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return addressPartsOf(decoded);
    return decodeAddressParts(this.#log.record(this.#positionOf(number)).payload);
  }

  /** @throws LogCorruptionError */
  header(number: number): Header {
    const decoded = this.#decoded.get(number);
    if (decoded !== undefined) return decoded.block.header;
    const position = this.#positionOf(number);
    const { offsetsOffset } = this.#prefix(number, position);
    return this.#part(position, PREFIX_LENGTH, offsetsOffset, decodeHeaderSection);
  }

  /** @throws LogCorruptionError */
  hash(number: number): Hash {
    const slot = number % HASHES_MAX;
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
    const offsets = this.#log.read(
      LogReader.payloadPosition(position, itemOffsetsAt(prefix, index)),
      8,
    );
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
    this.#decoded.addHead(header.number, new DecodedRecord(record, payload));
    this.#hashes[header.number % HASHES_MAX] = { number: header.number, hash };
  }

  forgetAfter(number: number): void {
    this.#decoded.forgetAfter(number);
    this.#hashes.length = 0;
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
