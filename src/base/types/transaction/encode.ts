import { keccak256Hash } from "../../primitives/keccak.ts";
import { encodeTypedRlp, type RlpItem } from "../../primitives/rlp.ts";
import { signatureItems, type TransactionFields, type WireSignature } from "./codec.ts";
import { accessListCodec, blobCodec, feeMarketCodec, setCodeCodec } from "./fee-market.ts";
import { legacyCodec } from "./legacy.ts";
import type { BlobSidecar, Transaction } from "./transaction.ts";

const CODECS = { 0: legacyCodec, 1: accessListCodec, 2: feeMarketCodec, 3: blobCodec, 4: setCodeCodec } as const;

/** The fields before the signature, in wire order. */
export function fieldItems(fields: TransactionFields): RlpItem[] {
  return CODECS[fields.type].fieldItems(fields as never);
}

/** The transaction with `fields` and a signature; v, r and s of 0 give the unsigned form that wallets complete. */
export function buildTransaction(fields: TransactionFields, signature: WireSignature): Transaction {
  const { v, r, s } = signature;
  const raw = encodeTypedRlp(fields.type, [...fieldItems(fields), ...signatureItems(signature)]);
  return { ...fields, v, r, s, hash: keccak256Hash(raw), raw };
}

/** The network form of a transaction: `raw`, or a blob transaction with its sidecar (EIP-4844, EIP-7594). */
export function encodePooledTransaction(tx: Transaction, sidecar?: BlobSidecar): Uint8Array {
  if (tx.type !== 3 || !sidecar) return tx.raw;
  const version = sidecar.wrapperVersion === 0 ? [] : [Uint8Array.of(sidecar.wrapperVersion)];
  return encodeTypedRlp(3, [
    [...fieldItems(tx), ...signatureItems(tx)],
    ...version,
    sidecar.blobs,
    sidecar.commitments,
    sidecar.proofs,
  ]);
}
