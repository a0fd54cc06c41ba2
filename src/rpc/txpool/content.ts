import type { PooledTransaction, PoolReader } from "../../mempool/pool.ts";
import { type Address, checksumAddress } from "../../primitives/address.ts";
import { maxFeePerGasOf } from "../../types/transaction/fees.ts";
import { defineMethod } from "../dispatch/method.ts";
import { transactionText } from "../json/transaction-json.ts";
import { quantityText } from "../json/write.ts";
import { address, rawJson } from "../params/codec.ts";

type Modules = { pool: PoolReader };
type BySender = ReadonlyMap<Address, readonly PooledTransaction[]>;
type Show = (pooled: PooledTransaction) => string;

/** `txpool_content`: every pooled transaction by sender (EIP-55) and nonce (decimal). */
export const content = defineMethod({
  name: "txpool_content",
  params: {},
  result: rawJson,
  heavy: true,
  handle: (_params, { pool }: Modules) => contentText(pool, showWhole),
});

/** `txpool_inspect`: as `txpool_content`, each transaction as one line of text. */
export const inspect = defineMethod({
  name: "txpool_inspect",
  params: {},
  result: rawJson,
  heavy: true,
  handle: (_params, { pool }: Modules) => contentText(pool, showLine),
});

/** `txpool_contentFrom`: the pooled transactions of one sender by nonce. */
export const contentFrom = defineMethod({
  name: "txpool_contentFrom",
  params: { sender: address },
  result: rawJson,
  handle({ sender }, { pool }: Modules) {
    const { pending, queued } = pool.contentFrom(sender);
    return `{"pending":${byNonceText(pending, showWhole)},"queued":${byNonceText(queued, showWhole)}}`;
  },
});

/** `txpool_status`: how many transactions can be mined at once and how many wait for others. */
export const status = defineMethod({
  name: "txpool_status",
  params: {},
  result: rawJson,
  handle(_params, { pool }: Modules) {
    const { pending, queued } = pool.counts();
    return `{"pending":${quantityText(pending)},"queued":${quantityText(queued)}}`;
  },
});

function contentText(pool: PoolReader, show: Show): string {
  const { pending, queued } = pool.content();
  return `{"pending":${bySenderText(pending, show)},"queued":${bySenderText(queued, show)}}`;
}

function bySenderText(bySender: BySender, show: Show): string {
  const members: string[] = [];
  for (const [sender, pooled] of bySender) {
    if (pooled.length === 0) continue;
    members.push(`"${checksumAddress(sender)}":${byNonceText(pooled, show)}`);
  }
  return `{${members.join(",")}}`;
}

function byNonceText(pooled: readonly PooledTransaction[], show: Show): string {
  return `{${pooled.map((entry) => `"${entry.tx.nonce}":${show(entry)}`).join(",")}}`;
}

function showWhole({ tx, sender }: PooledTransaction): string {
  return transactionText(tx, sender);
}

function showLine({ tx }: PooledTransaction): string {
  const receiver = tx.to === null ? "contract creation" : checksumAddress(tx.to);
  return `"${receiver}: ${tx.value} wei + ${tx.gasLimit} gas × ${maxFeePerGasOf(tx)} wei"`;
}
