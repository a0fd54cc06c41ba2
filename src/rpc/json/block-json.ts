import type { ExecutedBlock, Withdrawal } from "../../types/block.ts";
import { blockSize } from "../../types/block-codec.ts";
import type { Header } from "../../types/header.ts";
import { headerHash } from "../../types/header-codec.ts";
import { type HeaderStyle, headerMembers } from "./header-json.ts";
import { transactionText } from "./transaction-json.ts";
import { plainListText, quantityText } from "./write.ts";

/** JSON text of a header on its own. */
export function headerText({ block }: ExecutedBlock, style: HeaderStyle): string {
  return `{${headerMembers(block.header, block.hash, style)}}`;
}

/** JSON text of a block, with hashes or with whole transactions. */
export function blockText(executed: ExecutedBlock, isFull: boolean, style: HeaderStyle): string {
  const { block } = executed;
  const transactions = isFull
    ? `[${block.transactions.map((_, index) => minedTransactionText(executed, index)).join(",")}]`
    : plainListText(block.transactions.map(({ hash }) => hash));
  const withdrawals = block.withdrawals
    ? `,"withdrawals":[${block.withdrawals.map(withdrawalText).join(",")}]`
    : "";
  return (
    `{${headerMembers(block.header, block.hash, style)},"size":${quantityText(blockSize(block))}` +
    `,"transactions":${transactions},"uncles":${plainListText(block.uncles.map(headerHash))}${withdrawals}}`
  );
}

/** JSON text of an uncle: its header and the size of a block that holds nothing else. */
export function uncleText(uncle: Header, style: HeaderStyle): string {
  const size = blockSize({ header: uncle, transactions: [], uncles: [] });
  return `{${headerMembers(uncle, headerHash(uncle), style)},"size":${quantityText(size)},"uncles":[]}`;
}

/** JSON text of the transaction at `index`, which the block has. */
export function minedTransactionText({ block, senders }: ExecutedBlock, index: number): string {
  const { header, hash } = block;
  return transactionText(block.transactions[index]!, senders[index]!, {
    blockHash: hash,
    blockNumber: header.number,
    blockTimestamp: header.timestamp,
    index,
    baseFeePerGas: header.baseFeePerGas,
  });
}

function withdrawalText({ index, validatorIndex, address, amount }: Withdrawal): string {
  return (
    `{"index":${quantityText(index)},"validatorIndex":${quantityText(validatorIndex)}` +
    `,"address":"${address}","amount":${quantityText(amount)}}`
  );
}
