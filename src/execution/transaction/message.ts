import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import {
  effectiveGasPrice,
  maxFeePerGasOf,
  maxPriorityFeeOf,
} from "../../types/transaction/fees.ts";
import { impersonatedSender } from "../../types/transaction/impersonation.ts";
import type {
  AccessList,
  Authorization,
  Transaction,
} from "../../types/transaction/transaction.ts";

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
  /** EIP-4844; undefined in every other type */
  readonly blobVersionedHashes?: readonly Hash[] | undefined;
  readonly maxFeePerBlobGas?: bigint | undefined;
  /** EIP-7702; undefined in every other type */
  readonly authorizationList?: readonly Authorization[] | undefined;
  /** Nobody signed it, so that its sender may be a contract. */
  readonly isImpersonated?: boolean;
};

/** The message of `tx`, whose sender has been recovered, in a block with that base fee (0 before London). */
export function messageFromTransaction(
  tx: Transaction,
  from: Address,
  baseFeePerGas: bigint,
): TransactionMessage {
  // All fields are written in one literal: one shape for all transactions, and no copying, on the path of every one of them.
  return {
    from,
    to: tx.to,
    nonce: tx.nonce,
    value: tx.value,
    gasLimit: tx.gasLimit,
    gasPrice: effectiveGasPrice(tx, baseFeePerGas),
    maxFeePerGas: maxFeePerGasOf(tx),
    maxPriorityFeePerGas: maxPriorityFeeOf(tx),
    data: tx.data,
    accessList: tx.type === 0 ? [] : tx.accessList,
    blobVersionedHashes: tx.type === 3 ? tx.blobVersionedHashes : undefined,
    maxFeePerBlobGas: tx.type === 3 ? tx.maxFeePerBlobGas : undefined,
    authorizationList: tx.type === 4 ? tx.authorizationList : undefined,
    isImpersonated: impersonatedSender(tx) !== undefined,
  };
}
