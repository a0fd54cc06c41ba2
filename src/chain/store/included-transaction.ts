import type { ExecutedBlock } from "../../types/block.ts";
import type { IncludedTransaction } from "./block-store.ts";

/** Transaction `index` of a decoded block; undefined when it has no such transaction. */
export function includedTransaction(
  { block, senders, receipts }: ExecutedBlock,
  index: number,
): IncludedTransaction | undefined {
  const transaction = block.transactions[index];
  if (transaction === undefined) return undefined;
  let firstLogIndex = 0;
  for (let before = 0; before < index; before++) firstLogIndex += receipts[before]!.logs.length;
  return {
    transaction,
    sender: senders[index]!,
    receipt: receipts[index]!,
    firstLogIndex,
    index,
    blockHash: block.hash,
    blockNumber: block.header.number,
  };
}
