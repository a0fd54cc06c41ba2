import { InvariantError } from "../errors.ts";
import type { Hash } from "../primitives/hash.ts";
import { writeHex } from "../primitives/hex.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { rlpListLength, writeRlp, writeRlpInteger, writeRlpListPrefix } from "../primitives/rlp.ts";
import { BLOOM_LENGTH } from "./bloom.ts";
import type { Header } from "./header.ts";
import { decodeStruct, type StructReader } from "./rlp-struct.ts";

const NONCE_LENGTH = 8;

/** Fields that forks added after the first fifteen, oldest first: each is present only with all earlier ones. */
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

/** Of a header without extra data: prefixes of all fields, hashes, a bloom, and integers of up to 32 bytes. */
const LENGTH_MAX = 2_048;
/** The longest prefix of a list. */
const PREFIX_LENGTH_MAX = 9;
/** First byte of the RLP of a hash, and of an address. */
const [HASH_ITEM, ADDRESS_ITEM] = [0x80 + 32, 0x80 + 20];

/**
 * RLP of `header` (Yellow Paper 4.4; EIP-1559, 4895, 4844, 4788, 7685, 7928, 7843). Written field by field: every block is hashed this way.
 */
export function encodeHeader(header: Header): Uint8Array {
  const out = new Uint8Array(LENGTH_MAX + header.extraData.length);
  let at = PREFIX_LENGTH_MAX;
  at = writeHash(header.parentHash, out, at);
  at = writeHash(header.sha3Uncles, out, at);
  out[at++] = ADDRESS_ITEM;
  at = writeHex(header.coinbase, out, at);
  at = writeHash(header.stateRoot, out, at);
  at = writeHash(header.transactionsRoot, out, at);
  at = writeHash(header.receiptsRoot, out, at);
  at = writeRlp(header.logsBloom, out, at);
  at = writeRlpInteger(header.difficulty, out, at);
  at = writeRlpInteger(BigInt(header.number), out, at);
  at = writeRlpInteger(header.gasLimit, out, at);
  at = writeRlpInteger(header.gasUsed, out, at);
  at = writeRlpInteger(BigInt(header.timestamp), out, at);
  at = writeRlp(header.extraData, out, at);
  at = writeHash(header.mixHash, out, at);
  at = writeRlp(header.nonce, out, at);
  let missing: string | undefined;
  for (const field of OPTIONAL_FIELDS) {
    const value = header[field];
    if (value === undefined) {
      missing ??= field;
      continue;
    }
    if (missing !== undefined) throw new InvariantError(`a header with ${field} has ${missing} too`);
    if (typeof value === "bigint") at = writeRlpInteger(value, out, at);
    else at = writeHash(value, out, at);
  }
  const payload = at - PREFIX_LENGTH_MAX;
  const start = PREFIX_LENGTH_MAX - (rlpListLength(payload) - payload);
  writeRlpListPrefix(payload, out, start);
  return out.slice(start, at);
}

/** Writes `hash` as an RLP item at `offset`; the offset behind it. */
function writeHash(hash: Hash, out: Uint8Array, offset: number): number {
  out[offset] = HASH_ITEM;
  return writeHex(hash, out, offset + 1);
}

/** The block's hash: keccak256 of the header's RLP. */
export function headerHash(header: Header): Hash {
  return keccak256Hash(encodeHeader(header));
}

/**
 * Decodes a header's RLP. Byte strings are views of `bytes`.
 * @throws InvalidRlpError, InvalidEncodingError
 */
export function decodeHeader(bytes: Uint8Array): Header {
  return decodeStruct(bytes, "types.Header", readHeader);
}

/** Reads all fields of a header. */
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
