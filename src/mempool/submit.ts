import { NodeError } from "../errors.ts";
import type { Hash } from "../primitives/hash.ts";
import { decodePooledTransaction } from "../types/transaction/decode.ts";
import { maxFeePerGasOf } from "../types/transaction/fees.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
import type { Mempool } from "./mempool.ts";

const WEI_PER_ETHER = 10 ** 18;

/** The transaction may cost more than this node passes on. */
export class FeeCapExceededError extends NodeError {
  readonly code = "TX_FEE_CAP_EXCEEDED";
  constructor(details: { readonly feeWei: bigint; readonly capWei: bigint }) {
    super(
      `tx fee (${ether(details.feeWei)} ether) exceeds the configured cap (${ether(details.capWei)} ether)`,
      details,
    );
  }
}

/** A legacy transaction without a chain id could be played again on every other chain (EIP-155). */
export class UnprotectedTransactionError extends NodeError {
  readonly code = "TX_UNPROTECTED";
  constructor() {
    super("only replay-protected (EIP-155) transactions allowed over RPC");
  }
}

export type SubmitOptions = {
  /** Most a transaction may pay for its gas, in wei; 0: no cap */
  readonly feeCapWei: bigint;
};

/**
 * Takes transactions in network form from users into the pool; gives their hash.
 * The function throws FeeCapExceededError, UnprotectedTransactionError, and what decoder and pool throw.
 */
export function createSubmit(
  { feeCapWei }: SubmitOptions,
  mempool: Mempool,
): (raw: Uint8Array) => Hash {
  return (raw) => {
    const submission = decodePooledTransaction(raw);
    assertFeeBelowCap(submission.tx, feeCapWei);
    if (submission.tx.chainId === undefined) throw new UnprotectedTransactionError();
    mempool.add(submission);
    return submission.tx.hash;
  };
}

function assertFeeBelowCap(tx: Transaction, capWei: bigint): void {
  const feeWei = maxFeePerGasOf(tx) * tx.gasLimit;
  if (capWei > 0n && feeWei > capWei) throw new FeeCapExceededError({ feeWei, capWei });
}

function ether(wei: bigint): string {
  return (Number(wei) / WEI_PER_ETHER).toFixed(2);
}
