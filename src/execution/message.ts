import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import type { AccessList, Authorization, Transaction } from "../types/transaction/transaction.ts";

/** What is executed: a transaction with its sender and effective price, or a call that is no transaction. Wei and gas units. */
export type TransactionMessage = {
  readonly from: Address;
  readonly to: Address | null;
  readonly nonce: bigint;
  readonly value: bigint;
  readonly gasLimit: bigint;
  /** The price really paid for a unit of gas. */
  readonly gasPrice: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly data: Uint8Array;
  readonly accessList: AccessList;
  /** EIP-4844; absent in every other type */
  readonly blobVersionedHashes?: readonly Hash[];
  readonly maxFeePerBlobGas?: bigint;
  /** EIP-7702; absent in every other type */
  readonly authorizationList?: readonly Authorization[];
};

/** The message of `tx`, whose sender has been recovered, in a block with that base fee (undefined before London). */
export function messageFromTransaction(
  tx: Transaction,
  from: Address,
  baseFeePerGas: bigint | undefined,
): TransactionMessage {
  const { to, nonce, value, gasLimit, data } = tx;
  const common = { from, to, nonce, value, gasLimit, data };
  if (tx.type === 0 || tx.type === 1) {
    const { gasPrice } = tx;
    const accessList = tx.type === 1 ? tx.accessList : [];
    return { ...common, accessList, ...priceFields(gasPrice, gasPrice, baseFeePerGas) };
  }
  const { maxFeePerGas, maxPriorityFeePerGas, accessList } = tx;
  const message = {
    ...common,
    accessList,
    ...priceFields(maxFeePerGas, maxPriorityFeePerGas, baseFeePerGas),
  };
  if (tx.type === 3) {
    const { blobVersionedHashes, maxFeePerBlobGas } = tx;
    return { ...message, blobVersionedHashes, maxFeePerBlobGas };
  }
  if (tx.type === 4) return { ...message, authorizationList: tx.authorizationList };
  return message;
}

/** Wei a sender pays for one unit of gas: at most the cap, else base fee and tip (EIP-1559). */
export function effectiveGasPrice(
  maxFeePerGas: bigint,
  maxPriorityFeePerGas: bigint,
  baseFeePerGas: bigint | undefined,
): bigint {
  if (baseFeePerGas === undefined) return maxFeePerGas;
  const price = baseFeePerGas + maxPriorityFeePerGas;
  return price < maxFeePerGas ? price : maxFeePerGas;
}

function priceFields(
  maxFeePerGas: bigint,
  maxPriorityFeePerGas: bigint,
  baseFeePerGas: bigint | undefined,
) {
  const gasPrice = effectiveGasPrice(maxFeePerGas, maxPriorityFeePerGas, baseFeePerGas);
  return { gasPrice, maxFeePerGas, maxPriorityFeePerGas };
}
