import type { ExecutedBlock, Withdrawal } from "../../types/block.ts";
import { blockSize } from "../../types/block-codec.ts";
import type { Header } from "../../types/header.ts";
import { headerHash } from "../../types/header-codec.ts";
import type { SealedHeader } from "../ports/chain-view.ts";
import { minedTransactionOf } from "../ports/mined.ts";
import { type HeaderStyle, headerMembers } from "./header-json.ts";
import { minedTransactionText } from "./transaction-json.ts";
import { plainListText, quantityText } from "./write.ts";

/** JSON text of a header on its own. */
export function headerText({ hash, header }: SealedHeader, style: HeaderStyle): string {
  return `{${headerMembers(header, hash, style)}}`;
}

/** JSON text of a block, with hashes or with whole transactions. */
export function blockText(executed: ExecutedBlock, isFull: boolean, style: HeaderStyle): string {
  const { block } = executed;
  const transactions = isFull
    ? `[${block.transactions.map((_, index) => transactionTextAt(executed, index)).join(",")}]`
    : plainListText(block.transactions.map(({ hash }) => hash));
  const withdrawals = block.withdrawals
    ? `,"withdrawals":[${block.withdrawals.map(withdrawalText).join(",")}]`
    : "";
  return (
    `{${headerMembers(block.header, block.hash, style)},"size":${quantityText(blockSize(block))}` +
    `,"transactions":${transactions},"uncles":${plainListText(block.uncles.map(headerHash))}${withdrawals}}`
  );
}

/** Its header and the size of a block that holds nothing else. */
function uncleText(uncle: Header, style: HeaderStyle): string {
  const size = blockSize({ header: uncle, transactions: [], uncles: [] });
  return `{${headerMembers(uncle, headerHash(uncle), style)},"size":${quantityText(size)},"uncles":[]}`;
}

/** JSON text of the uncle at `index`; null where there is none. */
export function uncleTextAt(
  executed: ExecutedBlock | undefined,
  index: number,
  style: HeaderStyle,
): string {
  const uncle = executed?.block.uncles[index];
  return uncle ? uncleText(uncle, style) : "null";
}

function transactionTextAt(executed: ExecutedBlock, index: number): string {
  return minedTransactionText(minedTransactionOf(executed, index));
}

function withdrawalText({ index, validatorIndex, address, amount }: Withdrawal): string {
  return (
    `{"index":${quantityText(index)},"validatorIndex":${quantityText(validatorIndex)}` +
    `,"address":"${address}","amount":${quantityText(amount)}}`
  );
}
