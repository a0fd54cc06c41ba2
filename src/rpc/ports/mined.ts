import type { ExecutedBlock } from "../../base/types/block.ts";
import type { Header } from "../../base/types/header.ts";
import type { IncludedTransaction } from "../../chain/block-store.ts";
import type { MinedReceipt, MinedTransaction, TransactionPosition } from "./chain-view.ts";

/** @param header of the block that includes it */
export function minedTransaction(included: IncludedTransaction, header: Header): MinedTransaction {
  const { transaction, sender } = included;
  return { tx: transaction, sender, position: positionOf(included, header) };
}

/** The transaction at `index`, which the block has. */
export function minedTransactionOf({ block, senders }: ExecutedBlock, index: number): MinedTransaction {
  const position = { index, blockHash: block.hash, blockNumber: block.header.number };
  return {
    tx: block.transactions[index]!,
    sender: senders[index]!,
    position: positionOf(position, block.header),
  };
}

/** @param header of the block that includes it */
export function minedReceipt(included: IncludedTransaction, header: Header): MinedReceipt {
  const { transaction, sender, receipt, firstLogIndex } = included;
  return {
    receipt,
    transactionHash: transaction.hash,
    from: sender,
    to: transaction.to,
    position: positionOf(included, header),
    firstLogIndex,
  };
}

/** Every receipt of a block, in order. */
export function minedReceipts({ block, senders, receipts }: ExecutedBlock): MinedReceipt[] {
  const { hash: blockHash, header, transactions } = block;
  let firstLogIndex = 0;
  return receipts.map((receipt, index) => {
    const { hash, to } = transactions[index]!;
    const mined = {
      receipt,
      transactionHash: hash,
      from: senders[index]!,
      to,
      position: positionOf({ index, blockHash, blockNumber: header.number }, header),
      firstLogIndex,
    };
    firstLogIndex += receipt.logs.length;
    return mined;
  });
}

function positionOf(
  { index, blockHash, blockNumber }: Pick<IncludedTransaction, "index" | "blockHash" | "blockNumber">,
  { timestamp, baseFeePerGas }: Header,
): TransactionPosition {
  return { blockHash, blockNumber, blockTimestamp: timestamp, index, baseFeePerGas };
}
