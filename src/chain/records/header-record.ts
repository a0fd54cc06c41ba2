import type { Address } from "../../base/primitives/address.ts";
import { type Hash, ZERO_HASH } from "../../base/primitives/hash.ts";
import { EMPTY_BLOCK_ACCESS_LIST_HASH } from "../../base/types/block-access-list.ts";
import { BLOOM_LENGTH, EMPTY_BLOOM } from "../../base/types/bloom.ts";
import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from "../../base/types/constants.ts";
import type { Header } from "../../base/types/header.ts";
import { type ByteReader, type ByteWriter, MalformedBytesError } from "../../store/storage/byte-io.ts";
import { UnknownFormatError } from "../../store/storage/schema.ts";

/** A bloom with more bits than this is stored as it is. */
const BLOOM_BITS_MAX = 200;
const BLOOM_WHOLE = 0xff;

const ABSENT = 0;
const USUAL = 1;
const STORED = 2;
/** Added to the form of the requests hash where the two fields of Amsterdam follow. */
const WITH_AMSTERDAM = 4;

/**
 * A header in the block log: its fields in wire order, in about 170 bytes for an empty block where
 * RLP needs 610. A hash that has its usual value is one byte.
 */
export function writeHeader(writer: ByteWriter, header: Header): void {
  writer.hex(header.parentHash);
  writeHash(writer, header.sha3Uncles, EMPTY_UNCLES_HASH);
  writer.hex(header.coinbase);
  writer.hex(header.stateRoot);
  writeHash(writer, header.transactionsRoot, EMPTY_TRIE_ROOT);
  writeHash(writer, header.receiptsRoot, EMPTY_TRIE_ROOT);
  writeBloom(writer, header.logsBloom);
  writer.bigint(header.difficulty);
  writer.varint(header.number);
  writer.bigint(header.gasLimit);
  writer.bigint(header.gasUsed);
  writer.varint(header.timestamp);
  writer.block(header.extraData);
  writeHash(writer, header.mixHash, ZERO_HASH);
  writer.bytes(header.nonce);
  writeOptionalBigint(writer, header.baseFeePerGas);
  writeHash(writer, header.withdrawalsRoot, EMPTY_TRIE_ROOT);
  writeOptionalBigint(writer, header.blobGasUsed);
  writeOptionalBigint(writer, header.excessBlobGas);
  writeHash(writer, header.parentBeaconBlockRoot, ZERO_HASH);
  const { blockAccessListHash, slotNumber } = header;
  if (blockAccessListHash === undefined || slotNumber === undefined) {
    writeHash(writer, header.requestsHash, EMPTY_REQUESTS_HASH);
    return;
  }
  writeHash(writer, header.requestsHash, EMPTY_REQUESTS_HASH, WITH_AMSTERDAM);
  writeHash(writer, blockAccessListHash, EMPTY_BLOCK_ACCESS_LIST_HASH);
  writer.bigint(slotNumber);
}

/** @throws MalformedBytesError */
export function readHeader(reader: ByteReader): Header {
  // Members are read in the order in which they are written here.
  const header: { -readonly [Name in keyof Header]: Header[Name] } = {
    parentHash: reader.hex(32) as Hash,
    sha3Uncles: readHash(reader, EMPTY_UNCLES_HASH),
    coinbase: reader.hex(20) as Address,
    stateRoot: reader.hex(32) as Hash,
    transactionsRoot: readHash(reader, EMPTY_TRIE_ROOT),
    receiptsRoot: readHash(reader, EMPTY_TRIE_ROOT),
    logsBloom: readBloom(reader),
    difficulty: reader.bigint(),
    number: reader.varint(),
    gasLimit: reader.bigint(),
    gasUsed: reader.bigint(),
    timestamp: reader.varint(),
    extraData: reader.block(),
    mixHash: readHash(reader, ZERO_HASH),
    nonce: reader.bytes(8),
  };
  const baseFeePerGas = readOptionalBigint(reader);
  if (baseFeePerGas !== undefined) header.baseFeePerGas = baseFeePerGas;
  const withdrawalsRoot = readOptionalHash(reader, EMPTY_TRIE_ROOT);
  if (withdrawalsRoot !== undefined) header.withdrawalsRoot = withdrawalsRoot;
  const blobGasUsed = readOptionalBigint(reader);
  if (blobGasUsed !== undefined) header.blobGasUsed = blobGasUsed;
  const excessBlobGas = readOptionalBigint(reader);
  if (excessBlobGas !== undefined) header.excessBlobGas = excessBlobGas;
  const parentBeaconBlockRoot = readOptionalHash(reader, ZERO_HASH);
  if (parentBeaconBlockRoot !== undefined) header.parentBeaconBlockRoot = parentBeaconBlockRoot;
  const requestsForm = reader.byte();
  const hasAmsterdam = requestsForm >= WITH_AMSTERDAM;
  const requestsHash = hashOf(reader, hasAmsterdam ? requestsForm - WITH_AMSTERDAM : requestsForm, EMPTY_REQUESTS_HASH);
  if (requestsHash !== undefined) header.requestsHash = requestsHash;
  if (hasAmsterdam) {
    header.blockAccessListHash = readHash(reader, EMPTY_BLOCK_ACCESS_LIST_HASH);
    header.slotNumber = reader.bigint();
  }
  return header;
}

/** A bloom as the distances between its set bits: one receipt sets a handful of 2,048. */
export function writeBloom(writer: ByteWriter, bloom: Uint8Array): void {
  const bits = setBits(bloom);
  if (bits.length > BLOOM_BITS_MAX) {
    writer.byte(BLOOM_WHOLE);
    writer.bytes(bloom);
    return;
  }
  writer.byte(bits.length);
  let last = 0;
  for (const bit of bits) {
    writer.varint(bit - last);
    last = bit;
  }
}

/** @throws MalformedBytesError */
export function readBloom(reader: ByteReader): Uint8Array {
  const count = reader.byte();
  if (count === 0) return EMPTY_BLOOM;
  if (count === BLOOM_WHOLE) return reader.bytes(BLOOM_LENGTH);
  const bloom = new Uint8Array(BLOOM_LENGTH);
  let bit = 0;
  for (let i = 0; i < count; i++) {
    bit += reader.varint();
    if (bit >= BLOOM_LENGTH * 8) throw new MalformedBytesError("bit beyond the end of a bloom");
    bloom[bit >> 3]! |= 1 << (bit & 7);
  }
  return bloom;
}

/** Passes over what `readBloom` reads. @throws MalformedBytesError */
export function skipBloom(reader: ByteReader): void {
  const count = reader.byte();
  if (count === BLOOM_WHOLE) reader.skip(BLOOM_LENGTH);
  else for (let i = 0; i < count; i++) reader.varint();
}

function setBits(bloom: Uint8Array): number[] {
  const bits: number[] = [];
  if (bloom === EMPTY_BLOOM) return bits;
  for (let i = 0; i < BLOOM_LENGTH; i++) {
    const byte = bloom[i]!;
    if (byte === 0) continue;
    for (let bit = 0; bit < 8; bit++) if (byte & (1 << bit)) bits.push(i * 8 + bit);
  }
  return bits;
}

function writeHash(writer: ByteWriter, hash: Hash | undefined, usual: Hash, flags = 0): void {
  if (hash === undefined) writer.byte(ABSENT | flags);
  else if (hash === usual) writer.byte(USUAL | flags);
  else {
    writer.byte(STORED | flags);
    writer.hex(hash);
  }
}

function readHash(reader: ByteReader, usual: Hash): Hash {
  const hash = readOptionalHash(reader, usual);
  if (hash === undefined) throw new MalformedBytesError("header lacks a field every header has");
  return hash;
}

function readOptionalHash(reader: ByteReader, usual: Hash): Hash | undefined {
  return hashOf(reader, reader.byte(), usual);
}

function hashOf(reader: ByteReader, form: number, usual: Hash): Hash | undefined {
  if (form === ABSENT) return undefined;
  if (form === USUAL) return usual;
  if (form === STORED) return reader.hex(32) as Hash;
  throw new MalformedBytesError(`unknown form of a hash: ${form}`);
}

function writeOptionalBigint(writer: ByteWriter, value: bigint | undefined): void {
  writer.byte(value === undefined ? ABSENT : STORED);
  if (value !== undefined) writer.bigint(value);
}

function readOptionalBigint(reader: ByteReader): bigint | undefined {
  return reader.byte() === ABSENT ? undefined : reader.bigint();
}

/**
 * The first byte of every record of the block log and of state files; the second byte is the version of its layout.
 * Numbers are never reused. If the first block of a log is not block 0, a state file lies beside the log, or this block sets
 * the whole state as a genesis block does.
 */
export const RECORD_KIND = {
  block: 1,
  /** a part of the state after some block (state-file.ts) */
  statePart: 2,
  /** number and hash of the block after which the parts before it are the state */
  stateEnd: 3,
} as const;

/** @throws UnknownFormatError unless the next two bytes are `kind` and a version from `oldest` to `newest` */
export function assertRecordKind(reader: ByteReader, kind: number, newest: number, oldest = newest): void {
  const foundKind = reader.byte();
  if (foundKind !== kind) {
    throw new UnknownFormatError({ what: "kind of a log record", found: foundKind, known: kind });
  }
  const foundVersion = reader.byte();
  if (foundVersion < oldest || foundVersion > newest) {
    const what = `log record of kind ${kind}`;
    throw new UnknownFormatError({ what, found: foundVersion, known: newest });
  }
}
