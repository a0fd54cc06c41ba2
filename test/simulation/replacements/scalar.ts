/** Scalars of blobs, of which a simulation reads none: values enter no proof. */
export * from "../../../src/base/crypto/kzg/scalar.ts";

export function decodeScalars(): bigint[] {
  return [];
}
