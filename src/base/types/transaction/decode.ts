import { concatBytes } from "../../primitives/bytes.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { InvalidRlpError, splitRlp } from "../../primitives/rlp.ts";
import { decodeStruct, type Field, StructReader } from "../rlp-struct.ts";
import {
  readSignature,
  SidecarVersionError,
  TransactionTooShortError,
  TransactionTypeNotSupportedError,
  type WireSignature,
} from "./codec.ts";
import { accessListCodec, blobCodec, feeMarketCodec, setCodeCodec } from "./fee-market.ts";
import { legacyCodec, readLegacy } from "./legacy.ts";
import { decodePlainForm } from "./plain-form.ts";
import type { BlobSidecar, Transaction } from "./transaction.ts";

/**
 * Decodes a transaction's canonical EIP-2718 form, as in a block body: a type 3 without blobs. Checks only the form; see `recoverSender` for the
 * signature. `raw` and `data` are views of `bytes`.
 * @param field where the bytes come from, if they are part of another structure
 * @throws InvalidRlpError, InvalidEncodingError, TransactionTooShortError, TransactionTypeNotSupportedError
 */
export function decodeTransaction(bytes: Uint8Array, field?: Field): Transaction {
  return decodePlainForm(bytes) ?? decodeAnyForm(bytes, field);
}

/** Like `decodeTransaction`, but field by field, so that errors name the first fault. */
export function decodeAnyForm(bytes: Uint8Array, field?: Field): Transaction {
  const type = transactionType(bytes);
  const body = type === 0 ? bytes : bytes.subarray(1);
  const tx = readTransaction(type, body, field);
  // Not a spread: copying the object would dominate decoding.
  return Object.assign(tx, { hash: keccak256Hash(bytes), raw: bytes });
}

/** 4096 field elements of 32 bytes (EIP-4844) */
const BLOB_LENGTH = 131_072;
/** A compressed G1 point: a commitment or a proof */
const KZG_LENGTH = 48;

/** A submitted or relayed transaction. */
export type DecodedPooledTransaction = {
  readonly tx: Transaction;
  readonly sidecar?: BlobSidecar;
};

/**
 * Decodes a transaction's network form: canonical, except that a type 3 may be wrapped with its blobs as `03 ‖ rlp([tx, blobs, commitments,
 * proofs])` (EIP-4844) or `03 ‖ rlp([tx, 1, blobs, commitments, cellProofs])` (EIP-7594). The transaction inside a wrapper is a copy, the
 * sidecar a view of `bytes`.
 * @throws as decodeTransaction, and SidecarVersionError
 */
export function decodePooledTransaction(bytes: Uint8Array): DecodedPooledTransaction {
  if (transactionType(bytes) !== 3) return { tx: decodeTransaction(bytes) };
  const body = bytes.subarray(1);
  const { isList, start, end } = splitRlp(body);
  if (!isList) throw new InvalidRlpError("rlp: expected List");
  const payload = body.subarray(start, end);
  const first = splitRlp(payload);
  if (!first.isList) return { tx: decodeTransaction(bytes) };
  // Version 0 does not state its version: its second item is the list of blobs.
  const second = splitRlp(payload.subarray(first.end));
  const wrapper = new StructReader(payload, WRAPPER_NAMES[second.isList ? 0 : 1]);
  if (end !== body.length) throw new InvalidRlpError("rlp: input contains more than one value");
  // A copy, so that the transaction does not keep its blobs in memory once it is in a block.
  const raw = concatBytes(Uint8Array.of(3), wrapper.item("BlobTx"));
  const tx = decodeTransaction(raw, { parent: wrapper, segment: "BlobTx" });
  return { tx, sidecar: readSidecar(wrapper) };
}

const WRAPPER_NAMES = ["types.blobTxWithBlobsV0", "types.blobTxWithBlobsV1"] as const;

/**
 * The EIP-2718 type of `bytes`; 0 for a legacy transaction's list.
 * @throws TransactionTooShortError, TransactionTypeNotSupportedError
 */
function transactionType(bytes: Uint8Array): Transaction["type"] {
  const first = bytes[0];
  // From 0x80 on it is RLP, which the legacy decoder accepts or rejects.
  if (first !== undefined && first >= 0x80) return 0;
  if (first === undefined || bytes.length === 1) throw new TransactionTooShortError();
  if (first >= 1 && first <= 4) return first as Transaction["type"];
  throw new TransactionTypeNotSupportedError(first);
}

function readTransaction(type: Transaction["type"], body: Uint8Array, field?: Field) {
  switch (type) {
    case 0:
      return decodeStruct(body, legacyCodec.name, readLegacy, field);
    case 1:
      return readSigned(accessListCodec, body);
    case 2:
      return readSigned(feeMarketCodec, body);
    case 3:
      return readSigned(blobCodec, body, "*uint256.Int", field);
    case 4:
      return readSigned(setCodeCodec, body, "*uint256.Int");
  }
}

function readSigned<Fields extends object>(
  codec: { readonly name: string; readFields(reader: StructReader): Fields },
  body: Uint8Array,
  integer?: "*uint256.Int",
  field?: Field,
): Fields & WireSignature {
  const read = (reader: StructReader) => Object.assign(codec.readFields(reader), readSignature(reader, integer));
  return decodeStruct(body, codec.name, read, field);
}

/** The items after the transaction in a wrapper. */
function readSidecar(reader: StructReader): BlobSidecar {
  if (reader.nextIsList()) return readBlobs(reader, 0);
  const version = reader.uint("Version", 8);
  if (version !== 1n) throw new SidecarVersionError(version);
  return readBlobs(reader, 1);
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
