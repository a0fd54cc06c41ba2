import { bigintToBytes } from "../../primitives/bytes.ts";
import { hashToBytes } from "../../primitives/hash.ts";
import type { TransactionCodec } from "./codec.ts";
import { feeMarketItems, readFeeMarketFields } from "./fee-market.ts";
import type { BlobTransaction } from "./transaction.ts";

/**
 * Type 3, EIP-4844: rlp([chainId, nonce, maxPriorityFeePerGas, maxFeePerGas, gasLimit, to, value, data, accessList,
 * maxFeePerBlobGas, blobVersionedHashes, yParity, r, s]).
 */
export const blobCodec = {
  name: "types.BlobTx",
  readFields: (reader) => ({
    ...readFeeMarketFields(reader, 3),
    maxFeePerBlobGas: reader.uint("BlobFeeCap", 256, "*uint256.Int"),
    blobVersionedHashes: reader.hashes("BlobHashes"),
  }),
  fieldItems: (fields) => [
    ...feeMarketItems(fields),
    bigintToBytes(fields.maxFeePerBlobGas),
    fields.blobVersionedHashes.map(hashToBytes),
  ],
} as const satisfies TransactionCodec<BlobTransaction>;
