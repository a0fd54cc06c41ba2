import { bytesToHex } from "../../primitives/hex.ts";
import { toQuantity } from "../../primitives/quantity.ts";
import type { BuiltPayload } from "../ports/execution.ts";

/** The envelope of an ExecutionPayloadV3, as `engine_getPayload` gives it. */
export function payloadJson({ block, requests, value, sidecars }: BuiltPayload) {
  const { header, hash: blockHash, transactions, withdrawals } = block;
  const all = (part: "commitments" | "proofs" | "blobs") =>
    sidecars.flatMap((sidecar) => sidecar[part].map(bytesToHex));
  return {
    executionPayload: {
      parentHash: header.parentHash,
      feeRecipient: header.coinbase,
      stateRoot: header.stateRoot,
      receiptsRoot: header.receiptsRoot,
      logsBloom: bytesToHex(header.logsBloom),
      prevRandao: header.mixHash,
      blockNumber: toQuantity(header.number),
      gasLimit: toQuantity(header.gasLimit),
      gasUsed: toQuantity(header.gasUsed),
      timestamp: toQuantity(header.timestamp),
      extraData: bytesToHex(header.extraData),
      baseFeePerGas: toQuantity(header.baseFeePerGas ?? 0n),
      blockHash,
      transactions: transactions.map(({ raw }) => bytesToHex(raw)),
      ...(withdrawals && {
        withdrawals: withdrawals.map(({ index, validatorIndex, address, amount }) => ({
          index: toQuantity(index),
          validatorIndex: toQuantity(validatorIndex),
          address,
          amount: toQuantity(amount),
        })),
      }),
      ...(header.excessBlobGas !== undefined && {
        blobGasUsed: toQuantity(header.blobGasUsed ?? 0n),
        excessBlobGas: toQuantity(header.excessBlobGas),
      }),
    },
    blockValue: toQuantity(value),
    blobsBundle: {
      commitments: all("commitments"),
      proofs: all("proofs"),
      blobs: all("blobs"),
    },
    executionRequests: requests.map(bytesToHex),
    shouldOverrideBuilder: false,
  };
}
