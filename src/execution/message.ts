import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { effectiveGasPrice, maxFeePerGasOf, maxPriorityFeeOf } from "../types/transaction/fees.ts";
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

/** The message of `tx`, whose sender has been recovered, in a block with that base fee (0 before London). */
export function messageFromTransaction(
  tx: Transaction,
  from: Address,
  baseFeePerGas: bigint,
): TransactionMessage {
  const { to, nonce, value, gasLimit, data } = tx;
  return {
    ...{ from, to, nonce, value, gasLimit, data },
    gasPrice: effectiveGasPrice(tx, baseFeePerGas),
    maxFeePerGas: maxFeePerGasOf(tx),
    maxPriorityFeePerGas: maxPriorityFeeOf(tx),
    accessList: tx.type === 0 ? [] : tx.accessList,
    ...(tx.type === 3 && {
      blobVersionedHashes: tx.blobVersionedHashes,
      maxFeePerBlobGas: tx.maxFeePerBlobGas,
    }),
    ...(tx.type === 4 && { authorizationList: tx.authorizationList }),
  };
}
