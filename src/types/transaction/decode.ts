import { keccak256Hash } from "../../primitives/keccak.ts";
import { decodeRlp, type RlpItem, rlpItemEnd } from "../../primitives/rlp.ts";
import { InvalidEncodingError, StructReader } from "../rlp-struct.ts";
import { accessListCodec } from "./access-list.ts";
import { blobCodec } from "./blob.ts";
import { readSignature, type WireSignature } from "./codec.ts";
import { encodeEnvelope } from "./encode.ts";
import {
  SidecarVersionError,
  TransactionTooShortError,
  TransactionTypeNotSupportedError,
} from "./errors.ts";
import { feeMarketCodec } from "./fee-market.ts";
import { legacyCodec, readLegacy } from "./legacy.ts";
import { setCodeCodec } from "./set-code.ts";
import type { BlobSidecar, Transaction } from "./transaction.ts";

/**
 * The transaction whose canonical EIP-2718 form `bytes` are, as it stands in a block body: a type 3 without blobs.
 * Nothing is checked beyond the form; see `recoverSender` for the signature. `raw` and `data` are views of `bytes`.
 * @throws InvalidRlpError, InvalidEncodingError, TransactionTooShortError, TransactionTypeNotSupportedError
 */
export function decodeTransaction(bytes: Uint8Array): Transaction {
  const type = transactionType(bytes);
  const body = type === 0 ? bytes : bytes.subarray(1);
  // That it is a list comes first, whatever is wrong inside.
  if (body[0]! < 0xc0 && rlpItemEnd(body, 0) <= body.length) {
    throw new InvalidEncodingError("RLP_EXPECTED_LIST", CODEC_NAMES[type], "");
  }
  const item = decodeRlp(body);
  // Not a spread: copies of the object would take more time than all else in decoding.
  return Object.assign(readTransaction(type, item), { hash: keccak256Hash(bytes), raw: bytes });
}

const CODEC_NAMES = {
  0: legacyCodec.name,
  1: accessListCodec.name,
  2: feeMarketCodec.name,
  3: blobCodec.name,
  4: setCodeCodec.name,
} as const;

/** 4096 field elements of 32 bytes (EIP-4844) */
const BLOB_LENGTH = 131_072;
/** A compressed G1 point: a commitment or a proof */
const KZG_LENGTH = 48;

/** A transaction as it is submitted or relayed. */
export type DecodedPooledTransaction = {
  readonly tx: Transaction;
  readonly sidecar?: BlobSidecar;
};

/**
 * The transaction whose network form `bytes` are: canonical, except that a type 3 may be wrapped with its blobs as
 * `03 ‖ rlp([tx, blobs, commitments, proofs])` (EIP-4844) or `03 ‖ rlp([tx, 1, blobs, commitments, cellProofs])` (EIP-7594).
 * The transaction inside a wrapper is a copy, the sidecar a view of `bytes`.
 * @throws as decodeTransaction, and SidecarVersionError
 */
export function decodePooledTransaction(bytes: Uint8Array): DecodedPooledTransaction {
  if (transactionType(bytes) !== 3) return { tx: decodeTransaction(bytes) };
  const item = decodeRlp(bytes.subarray(1));
  if (item instanceof Uint8Array || item[0] instanceof Uint8Array || item.length === 0) {
    return { tx: decodeTransaction(bytes) };
  }
  const [txItems, ...rest] = item as readonly [readonly RlpItem[], ...RlpItem[]];
  // Canonical RLP has one encoding, so encoding the items again gives the bytes that stood there. Decoded from a copy, the
  // transaction does not keep its blobs in memory once it is in a block.
  const tx = decodeTransaction(encodeEnvelope(3, txItems));
  return { tx, sidecar: readSidecar(rest) };
}

/**
 * The EIP-2718 type at the front of `bytes`; 0 for a legacy transaction's list.
 * @throws TransactionTooShortError, TransactionTypeNotSupportedError
 */
function transactionType(bytes: Uint8Array): Transaction["type"] {
  const first = bytes[0];
  // From 0x80 on it is RLP of whatever kind, which the legacy form then accepts or not.
  if (first !== undefined && first >= 0x80) return 0;
  if (first === undefined || bytes.length === 1) throw new TransactionTooShortError();
  if (first >= 1 && first <= 4) return first as Transaction["type"];
  throw new TransactionTypeNotSupportedError(first);
}

function readTransaction(type: Transaction["type"], item: RlpItem) {
  switch (type) {
    case 0:
      return readLegacy(new StructReader(item, legacyCodec.name));
    case 1:
      return readSigned(accessListCodec, item);
    case 2:
      return readSigned(feeMarketCodec, item);
    case 3:
      return readSigned(blobCodec, item);
    case 4:
      return readSigned(setCodeCodec, item);
  }
}

function readSigned<Fields extends object>(
  codec: { readonly name: string; readFields(reader: StructReader): Fields },
  item: RlpItem,
): Fields & WireSignature {
  const reader = new StructReader(item, codec.name);
  const fields = codec.readFields(reader);
  const signature = readSignature(reader);
  reader.end();
  return Object.assign(fields, signature);
}

/** The items behind the transaction in a wrapper; version 0 does not state its version. */
function readSidecar(items: readonly RlpItem[]): BlobSidecar {
  const reader = new StructReader(items, "types.BlobTxSidecar");
  if (items[0] instanceof Uint8Array) {
    const version = reader.uint("Version", 8);
    if (version !== 1n) throw new SidecarVersionError(version);
    return readBlobs(reader, 1);
  }
  return readBlobs(reader, 0);
}

function readBlobs(reader: StructReader, wrapperVersion: 0 | 1): BlobSidecar {
  const sidecar = {
    wrapperVersion,
    blobs: reader.fixedByteStrings("Blobs", BLOB_LENGTH, "kzg4844.Blob"),
    commitments: reader.fixedByteStrings("Commitments", KZG_LENGTH, "kzg4844.Commitment"),
    proofs: reader.fixedByteStrings("Proofs", KZG_LENGTH, "kzg4844.Proof"),
  };
  reader.end();
  return sidecar;
}
