import type { Address } from "../../../base/primitives/address.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import type { MinedReceipt, MinedTransaction } from "../../../rpc/ports/chain-view.ts";

/** `0x` and a function selector. */
const SELECTOR_CHARS = 10;
/** Size of a row, besides twice the calldata. */
const ROW_BYTES = 1024;

/** Approximate size of the row of `mined`. */
export function rowBytes({ tx }: MinedTransaction): number {
  return ROW_BYTES + 2 * tx.data.length;
}

/** Whether `address` sent or received the transaction, or was created by it: the index also lists internal ones. */
export function isOwnTransaction(
  { tx, sender }: MinedTransaction,
  { receipt }: MinedReceipt,
  address: Address,
): boolean {
  return sender === address || tx.to === address || receipt.contractAddress === address;
}

/** JSON of a row of `txlist`: numbers are decimal texts. */
export function transactionRow({ tx, sender, position }: MinedTransaction, { receipt }: MinedReceipt, head: number) {
  const input = bytesToHex(tx.data);
  const isFailed = receipt.status === 0;
  return JSON.stringify({
    blockNumber: String(position.blockNumber),
    blockHash: position.blockHash,
    timeStamp: String(position.blockTimestamp),
    hash: tx.hash,
    nonce: String(tx.nonce),
    transactionIndex: String(position.index),
    from: sender,
    to: tx.to ?? "",
    value: String(tx.value),
    gas: String(tx.gasLimit),
    gasPrice: String(receipt.effectiveGasPrice),
    input,
    methodId: input.slice(0, SELECTOR_CHARS),
    functionName: "",
    contractAddress: receipt.contractAddress ?? "",
    cumulativeGasUsed: String(receipt.cumulativeGasUsed),
    gasUsed: String(receipt.gasUsed),
    txreceipt_status: isFailed ? "0" : "1",
    isError: isFailed ? "1" : "0",
    confirmations: String(head - position.blockNumber + 1),
  });
}
