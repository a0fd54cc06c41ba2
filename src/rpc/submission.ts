import type { Hash } from "../primitives/hash.ts";
import {
  type DecodedPooledTransaction,
  decodePooledTransaction,
} from "../types/transaction/decode.ts";
import { maxFeePerGasOf } from "../types/transaction/fees.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
import { FeeCapExceededError, UnprotectedTransactionError } from "./dispatch/errors.ts";

/** Adds a transaction in network form to the pool; its hash once it is accepted. */
export type Submit = (raw: Uint8Array) => Hash | Promise<Hash>;

export type SubmissionRules = {
  /** Most that one transaction may pay for gas, in wei; 0: no bound. */
  readonly txFeeWeiMax: bigint;
  /** Take legacy transactions without a chain id (EIP-155). */
  readonly allowUnprotected: boolean;
};

const WEI_PER_ETHER = 1e18;

/** `Submit` over a pool: decodes, holds `rules`, adds. */
export function createSubmit(
  rules: SubmissionRules,
  add: (transaction: DecodedPooledTransaction) => Hash | Promise<Hash>,
): Submit {
  return (raw) => {
    const decoded = decodePooledTransaction(raw);
    assertSubmittable(decoded.tx, rules);
    return add(decoded);
  };
}

/**
 * What a caller is protected from, whatever the pool would take.
 * @throws FeeCapExceededError, UnprotectedTransactionError
 */
export function assertSubmittable(tx: Transaction, rules: SubmissionRules): void {
  assertFeeBelowCap(maxFeePerGasOf(tx) * tx.gasLimit, rules.txFeeWeiMax);
  if (tx.type === 0 && tx.chainId === undefined && !rules.allowUnprotected) {
    throw new UnprotectedTransactionError();
  }
}

function assertFeeBelowCap(feeWei: bigint, capWei: bigint): void {
  if (capWei === 0n || feeWei <= capWei) return;
  throw new FeeCapExceededError(
    `tx fee (${ether(feeWei)} ether) exceeds the configured cap (${ether(capWei)} ether)`,
    { feeWei, capWei },
  );
}

function ether(wei: bigint): string {
  return (Number(wei) / WEI_PER_ETHER).toFixed(2);
}
