import { invariant } from "../errors.ts";
import { addressToBytes } from "../primitives/address.ts";
import { bigintToBytes } from "../primitives/bytes.ts";
import { type Hash, hashToBytes } from "../primitives/hash.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import { BLOOM_LENGTH } from "./bloom.ts";
import type { Header } from "./header.ts";
import { decodeStruct, type StructReader } from "./rlp-struct.ts";

const NONCE_LENGTH = 8;

/** The fields forks have added behind the first fifteen, oldest first: each present only with all before it. */
const OPTIONAL_FIELDS = [
  "baseFeePerGas",
  "withdrawalsRoot",
  "blobGasUsed",
  "excessBlobGas",
  "parentBeaconBlockRoot",
  "requestsHash",
  "blockAccessListHash",
  "slotNumber",
] as const satisfies readonly (keyof Header)[];

/** RLP of `header` (Yellow Paper 4.4; EIP-1559, 4895, 4844, 4788, 7685, 7928, 7843). */
export function encodeHeader(header: Header): Uint8Array {
  return encodeRlp(headerItem(header));
}

/** The block's hash: keccak256 of the header's RLP. */
export function headerHash(header: Header): Hash {
  return keccak256Hash(encodeHeader(header));
}

/**
 * The header whose RLP `bytes` are. Byte strings are views of `bytes`.
 * @throws InvalidRlpError, InvalidEncodingError
 */
export function decodeHeader(bytes: Uint8Array): Header {
  return decodeStruct(bytes, "types.Header", readHeader);
}

/** The header as an RLP item, for the structures that hold one. */
export function headerItem(header: Header): readonly RlpItem[] {
  const items: RlpItem[] = [
    hashToBytes(header.parentHash),
    hashToBytes(header.sha3Uncles),
    addressToBytes(header.coinbase),
    hashToBytes(header.stateRoot),
    hashToBytes(header.transactionsRoot),
    hashToBytes(header.receiptsRoot),
    header.logsBloom,
    bigintToBytes(header.difficulty),
    bigintToBytes(BigInt(header.number)),
    bigintToBytes(header.gasLimit),
    bigintToBytes(header.gasUsed),
    bigintToBytes(BigInt(header.timestamp)),
    header.extraData,
    hashToBytes(header.mixHash),
    header.nonce,
  ];
  let missing: string | undefined;
  for (const field of OPTIONAL_FIELDS) {
    const value = header[field];
    if (value === undefined) {
      missing ??= field;
      continue;
    }
    if (missing !== undefined) invariant(false, `a header with ${field} has ${missing} too`);
    items.push(typeof value === "bigint" ? bigintToBytes(value) : hashToBytes(value));
  }
  const hasList = header.blockAccessListHash !== undefined;
  invariant(
    hasList === (header.slotNumber !== undefined),
    "a header has an access list hash and a slot number, or neither",
  );
  return items;
}

/** Reads the fields of a header to the last. */
export function readHeader(reader: StructReader): Header {
  return {
    parentHash: reader.hash("ParentHash"),
    sha3Uncles: reader.hash("UncleHash"),
    coinbase: reader.address("Coinbase"),
    stateRoot: reader.hash("Root"),
    transactionsRoot: reader.hash("TxHash"),
    receiptsRoot: reader.hash("ReceiptHash"),
    logsBloom: reader.fixedBytes("Bloom", BLOOM_LENGTH, "types.Bloom"),
    difficulty: reader.uint("Difficulty", 256),
    number: reader.safeUint("Number"),
    gasLimit: reader.uint("GasLimit", 64),
    gasUsed: reader.uint("GasUsed", 64),
    timestamp: reader.safeUint("Time"),
    extraData: reader.bytes("Extra"),
    mixHash: reader.hash("MixDigest"),
    nonce: reader.fixedBytes("Nonce", NONCE_LENGTH, "types.BlockNonce"),
    ...(reader.hasMore() && { baseFeePerGas: reader.uint("BaseFee", 256) }),
    ...(reader.hasMore() && { withdrawalsRoot: reader.hash("WithdrawalsHash") }),
    ...(reader.hasMore() && { blobGasUsed: reader.uint("BlobGasUsed", 64) }),
    ...(reader.hasMore() && { excessBlobGas: reader.uint("ExcessBlobGas", 64) }),
    ...(reader.hasMore() && { parentBeaconBlockRoot: reader.hash("ParentBeaconRoot") }),
    ...(reader.hasMore() && { requestsHash: reader.hash("RequestsHash") }),
    ...(reader.hasMore() && {
      blockAccessListHash: reader.hash("BlockAccessListHash"),
      slotNumber: reader.uint("SlotNumber", 64),
    }),
  };
}
