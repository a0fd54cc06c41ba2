import { sha256 } from "@noble/hashes/sha2.js";
import { type Address, addressFromBytes } from "../../../base/primitives/address.ts";
import { concatBytes, EMPTY_BYTES, equalBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../../base/primitives/hash.ts";
import type { Offence } from "../../voting/jail.ts";
import { type Timestamp, timestamp } from "../abci/messages.ts";
import { encodeMessage, type MessageOf, message, single } from "../abci/protobuf.ts";
import { arrayOf, countOf, type Members, malformed, objectOf, textOf } from "./answers.ts";

/** The part of CometBFT's answer to `block` from which a block's consensus data is derived. */
type EngineBlock = {
  readonly chainId: string;
  readonly height: number;
  /** CometBFT's hash of the block, computed from its header. */
  readonly hash: Hash;
  readonly time: Timestamp;
  readonly proposer: Address;
  /** The round in which the parent was committed. */
  readonly parentRound: number;
  readonly txs: readonly Uint8Array[];
  /** The offences that its evidence proves, in the order in which CometBFT reports them to the application. */
  readonly offences: readonly Offence[];
};

/**
 * Header, transactions and block id of the answer must match each other, which detects a damaged proxy or store. Does not verify signatures.
 * @throws EngineRpcError
 */
export function engineBlockOf(answer: unknown): EngineBlock {
  const { block_id, block } = objectOf(answer);
  const { header: headerField, data, evidence, last_commit } = objectOf(block);
  const header = headerOf(objectOf(headerField));
  const txs = txsOf(objectOf(data)["txs"]);
  const hash = engineHeaderHash(header);
  const claimed = digitsOf(objectOf(block_id)["hash"], [32]);
  if (!equalBytes(claimed, hashToBytes(hash))) throw malformed();
  if (!equalBytes(header.dataHash, dataHash(txs))) throw malformed();
  return {
    chainId: header.chainId,
    height: Number(header.height),
    hash,
    time: header.time,
    txs,
    proposer: addressFromBytes(header.proposerAddress),
    parentRound: int32Of(objectOf(last_commit)["round"]),
    offences: listOf(objectOf(evidence)["evidence"]).flatMap(offencesOf),
  };
}

/** types/evidence.go `ABCI`, for its two kinds. */
function offencesOf(evidence: unknown): readonly Offence[] {
  const { type, value } = objectOf(evidence);
  const members = objectOf(value);
  if (type === "tendermint/DuplicateVoteEvidence") {
    const { height, validator_address } = objectOf(members["vote_a"]);
    return [{ address: addressOf(validator_address), height: countOf(height) }];
  }
  if (type !== "tendermint/LightClientAttackEvidence") throw malformed();
  const height = countOf(members["CommonHeight"]);
  return listOf(members["ByzantineValidators"]).map((validator) => ({
    address: addressOf(objectOf(validator)["address"]),
    height,
  }));
}

function addressOf(value: unknown): Address {
  return addressFromBytes(digitsOf(value, [20]));
}

function headerOf(header: Members): EngineHeader {
  const { block, app = "0" } = objectOf(header["version"]);
  const id = objectOf(header["last_block_id"]);
  const parts = objectOf(id["parts"]);
  return {
    version: { block: BigInt(countOf(block)), app: BigInt(countOf(app)) },
    chainId: textOf(header["chain_id"]),
    height: BigInt(countOf(header["height"])),
    time: timeOf(header["time"]),
    lastBlockId: {
      hash: digitsOf(id["hash"], HASH_LENGTHS),
      parts: { total: int32Of(parts["total"]), hash: digitsOf(parts["hash"], HASH_LENGTHS) },
    },
    ...hashedBytesOf((name) => digitsOf(header[snakeCase(name)], name === "proposerAddress" ? [20] : HASH_LENGTHS)),
  };
}

/** The first block of a chain has no last block. */
const HASH_LENGTHS: readonly number[] = [0, 32];

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Go's strict base64 decoding is not repeated here: `data_hash` covers the bytes. */
function txsOf(value: unknown): readonly Uint8Array[] {
  return listOf(value).map((tx) => Buffer.from(textOf(tx), "base64"));
}

/** Go writes an empty list as null. */
function listOf(value: unknown): readonly unknown[] {
  return value === null ? [] : arrayOf(value);
}

/** Hex digits without prefix, of one of these byte lengths. */
function digitsOf(value: unknown, lengths: readonly number[]): Uint8Array {
  const text = textOf(value);
  const isHex = lengths.includes(text.length / 2) && /^[0-9A-F]*$/.test(text);
  if (!isHex) throw malformed();
  return Buffer.from(text, "hex");
}

/** 32-bit counts are numbers. */
function int32Of(value: unknown): number {
  if (!Number.isInteger(value) || (value as number) < 0 || (value as number) >= 2 ** 31) {
    throw malformed();
  }
  return value as number;
}

/** RFC 3339 in UTC, with up to nine fractional digits. */
function timeOf(value: unknown): Timestamp {
  const parts = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/.exec(textOf(value));
  const seconds = Date.parse(`${parts?.[1]}Z`) / 1000;
  if (parts === null || !Number.isInteger(seconds)) throw malformed();
  return { seconds: BigInt(seconds), nanos: Number((parts[2] ?? "").padEnd(9, "0")) };
}

/** CometBFT's `BlockID`. */
export const blockId = message({
  hash: single(1, "bytes"),
  parts: single(2, message({ total: single(1, "uint32"), hash: single(2, "bytes") })),
});
const version = message({ block: single(1, "uint64"), app: single(2, "uint64") });
const text = message({ value: single(1, "string") });
const integer = message({ value: single(1, "int64") });
const bytes = message({ value: single(1, "bytes") });

/** A header of CometBFT, whose hash is computed. */
type EngineHeader = {
  readonly version: MessageOf<typeof version>;
  readonly chainId: string;
  readonly height: bigint;
  readonly time: Timestamp;
  readonly lastBlockId: MessageOf<typeof blockId>;
} & HashedBytes;

type HashedBytes = { readonly [Name in (typeof HASHED_BYTES)[number]]: Uint8Array };

/** Header members after its time and last block, in hashing order. */
const HASHED_BYTES = [
  "lastCommitHash",
  "dataHash",
  "validatorsHash",
  "nextValidatorsHash",
  "consensusHash",
  "appHash",
  "lastResultsHash",
  "evidenceHash",
  "proposerAddress",
] as const;

/** @param read the bytes of one of these members */
export function hashedBytesOf(read: (name: keyof HashedBytes) => Uint8Array): HashedBytes {
  return Object.fromEntries(HASHED_BYTES.map((name) => [name, read(name)])) as HashedBytes;
}

/** CometBFT's hash of a header, from its 14 fields. */
export function engineHeaderHash(header: EngineHeader): Hash {
  const root = merkleRoot([
    encodeMessage(version, header.version),
    encodeMessage(text, { value: header.chainId }),
    encodeMessage(integer, { value: header.height }),
    encodeMessage(timestamp, header.time),
    encodeMessage(blockId, header.lastBlockId),
    ...HASHED_BYTES.map((name) => encodeMessage(bytes, { value: header[name] })),
  ]);
  return hashFromBytes(root);
}

const LEAF = Uint8Array.of(0);
const INNER = Uint8Array.of(1);

/** Root of the RFC 6962 Merkle tree over `leaves`, with SHA-256, as CometBFT hashes headers, transactions and validators. */
export function merkleRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const { length } = leaves;
  if (length === 0) return sha256(EMPTY_BYTES);
  if (length === 1) return sha256(concatBytes(LEAF, leaves[0]!));
  // The largest power of two below `length`.
  const split = 1 << (31 - Math.clz32(length - 1));
  return sha256(concatBytes(INNER, merkleRoot(leaves.slice(0, split)), merkleRoot(leaves.slice(split))));
}

/** CometBFT's hash of the transactions of a block, `data_hash` of its header. */
export function dataHash(txs: readonly Uint8Array[]): Uint8Array {
  return merkleRoot(txs.map((tx) => sha256(tx)));
}
