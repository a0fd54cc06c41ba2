import type { ExecutedBlock } from "../../types/block.ts";
import type { MinedReceipt, MinedTransaction, TransactionPosition } from "./chain-view.ts";

/** The transaction at `index`, which the block has. */
export function minedTransaction(executed: ExecutedBlock, index: number): MinedTransaction {
  const { block, senders } = executed;
  return {
    tx: block.transactions[index]!,
    sender: senders[index]!,
    position: positionOf(executed, index),
  };
}

/** The receipt at `index`, which the block has. @param firstLogIndex as `logsBefore` gives it */
export function minedReceipt(
  executed: ExecutedBlock,
  index: number,
  firstLogIndex: number,
): MinedReceipt {
  const { block, senders, receipts } = executed;
  const { hash, to } = block.transactions[index]!;
  return {
    receipt: receipts[index]!,
    transactionHash: hash,
    from: senders[index]!,
    to,
    position: positionOf(executed, index),
    firstLogIndex,
  };
}

/** Every receipt of a block, in order. */
export function minedReceipts(executed: ExecutedBlock): MinedReceipt[] {
  let firstLogIndex = 0;
  return executed.receipts.map(({ logs }, index) => {
    const mined = minedReceipt(executed, index, firstLogIndex);
    firstLogIndex += logs.length;
    return mined;
  });
}

/** Number of logs of the transactions before `index`. */
export function logsBefore({ receipts }: ExecutedBlock, index: number): number {
  let count = 0;
  for (let i = 0; i < index; i++) count += receipts[i]!.logs.length;
  return count;
}

function positionOf(
  { block: { hash, header } }: ExecutedBlock,
  index: number,
): TransactionPosition {
  return {
    blockHash: hash,
    blockNumber: header.number,
    blockTimestamp: header.timestamp,
    index,
    baseFeePerGas: header.baseFeePerGas,
  };
}
