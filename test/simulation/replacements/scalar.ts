/** Scalars of blobs, which no simulation reads: values are not part of proofs. */
export * from "../../../src/base/crypto/kzg/scalar.ts";

export function decodeScalars(): bigint[] {
  return [];
}
