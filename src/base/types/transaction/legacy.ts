import { bigintToBytes } from "../../primitives/bytes.ts";
import type { StructReader } from "../rlp-struct.ts";
import { optionalAddressItem, readSignature, type TransactionCodec } from "./codec.ts";
import type { LegacyTransaction } from "./transaction.ts";

/**
 * Type 0: rlp([nonce, gasPrice, gasLimit, to, value, data, v, r, s]). The chain id is part of `v` (EIP-155), not a field, so `readLegacy` adds
 * it.
 */
export const legacyCodec = {
  name: "types.LegacyTx",
  readFields: (reader) => ({
    type: 0,
    chainId: undefined,
    nonce: reader.uint("Nonce", 64),
    gasPrice: reader.uint("GasPrice", 256),
    gasLimit: reader.uint("Gas", 64),
    to: reader.optionalAddress("To"),
    value: reader.uint("Value", 256),
    data: reader.bytes("Data"),
  }),
  fieldItems: ({ nonce, gasPrice, gasLimit, to, value, data }) => [
    bigintToBytes(nonce),
    bigintToBytes(gasPrice),
    bigintToBytes(gasLimit),
    optionalAddressItem(to),
    bigintToBytes(value),
    data,
  ],
} as const satisfies TransactionCodec<LegacyTransaction>;

/** Fields and signature, with the chain id that `v` carries. */
export function readLegacy(reader: StructReader): Omit<LegacyTransaction, "hash" | "raw"> {
  const fields = legacyCodec.readFields(reader);
  const { v, r, s } = readSignature(reader);
  return { ...fields, v, r, s, chainId: chainIdFromV(v) };
}

/** The chain id in `v` (EIP-155); undefined for 27, 28 and invalid values. */
export function chainIdFromV(v: bigint): bigint | undefined {
  return v >= 35n ? (v - 35n) / 2n : undefined;
}

/** `v` of a legacy signature: EIP-155 with a chain id, else 27 or 28. */
export function legacyV(chainId: bigint | undefined, yParity: 0 | 1): bigint {
  return chainId === undefined ? 27n + BigInt(yParity) : chainId * 2n + 35n + BigInt(yParity);
}
