import { type Hardfork, isAtLeast } from "../../params/hardforks.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { ReceiptBlooms } from "../../types/bloom.ts";
import type { Receipt } from "../../types/receipt.ts";
import { blobGasOf } from "../../types/transaction/fees.ts";
import type { Transaction } from "../../types/transaction/transaction.ts";
import type { MessageResult } from "../transaction/apply-message.ts";

/** Inputs of a receipt besides the transaction and its result. */
type ReceiptContext = {
  readonly hardfork: Hardfork;
  /** Gas of all transactions of the block up to and with this one. */
  readonly cumulativeGasUsed: bigint;
  /** Price the sender paid. */
  readonly effectiveGasPrice: bigint;
  readonly blobBaseFee: bigint;
  readonly blooms: ReceiptBlooms;
  /** State root after the transaction; called before Byzantium only. */
  stateRoot(): Hash;
};

/** The receipt of an executed transaction (Yellow Paper 4.4.1; EIP-658 from Byzantium). */
export function receiptOf(
  tx: Transaction,
  { outcome, gasUsed, logs, contractAddress }: MessageResult,
  context: ReceiptContext,
): Receipt {
  const { cumulativeGasUsed, effectiveGasPrice } = context;
  return {
    type: tx.type,
    ...(isAtLeast(context.hardfork, "byzantium")
      ? { status: outcome === "success" ? 1 : 0 }
      : { postState: context.stateRoot() }),
    cumulativeGasUsed,
    gasUsed,
    logsBloom: context.blooms.of(logs),
    logs,
    contractAddress,
    effectiveGasPrice,
    ...(tx.type === 3 && { blobGasUsed: blobGasOf(tx), blobGasPrice: context.blobBaseFee }),
  };
}
