import type { PoolContent, PooledTransaction } from "../../../mempool/pool.ts";
import { type Address, checksumAddress } from "../../../primitives/address.ts";
import { andThen } from "../../../threads/maybe-promise.ts";
import { maxFeePerGasOf } from "../../../types/transaction/fees.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { address, rawJsonOf } from "../../transport/codec.ts";
import { defineMethod, type Method } from "../../transport/dispatch/method.ts";
import { SAMPLE } from "../example-values.ts";
import { mapOf, POOLED, QUANTITY, shape, TRANSACTION } from "../json/schemas.ts";
import { transactionText } from "../json/transaction-json.ts";
import { quantityText } from "../json/write.ts";
import type { ServingPorts } from "../rpc-ports.ts";

/** JSON text of one pooled transaction. */
export type PooledText = (pooled: PooledTransaction) => string;

/** `{pending, queued}`, each by sender (EIP-55) and nonce (decimal). */
export function contentText({ pending, queued }: PoolContent, text: PooledText): string {
  return `{"pending":${bySenderText(pending, text)},"queued":${bySenderText(queued, text)}}`;
}

/** By nonce (decimal). */
export function byNonceText(pooled: readonly PooledTransaction[], text: PooledText): string {
  return `{${pooled.map((entry) => `"${entry.tx.nonce}":${text(entry)}`).join(",")}}`;
}

function bySenderText(bySender: ReadonlyMap<Address, readonly PooledTransaction[]>, text: PooledText): string {
  const members: string[] = [];
  for (const [sender, pooled] of bySender) {
    if (pooled.length === 0) continue;
    members.push(`"${checksumAddress(sender)}":${byNonceText(pooled, text)}`);
  }
  return `{${members.join(",")}}`;
}

/** `txpool_status`: how many transactions can be mined at once and how many wait for others. */
export const status = defineMethod({
  name: "txpool_status",
  params: {},
  result: rawJsonOf(shape("PoolStatus", { pending: QUANTITY, queued: QUANTITY })),
  handle: (_params, { chain }: { chain: Pick<ChainView, "poolCounts"> }) =>
    andThen(
      chain.poolCounts(),
      ({ pending, queued }) => `{"pending":${quantityText(pending)},"queued":${quantityText(queued)}}`,
    ),
});

/** `txpool_content`: every pooled transaction by sender (EIP-55) and nonce (decimal). */
export const content = defineMethod({
  name: "txpool_content",
  params: {},
  result: rawJsonOf(shape("PoolContent", { pending: POOLED, queued: POOLED })),
  heavy: true,
  handle: (_params, { chain }: { chain: Pick<ChainView, "poolContent"> }) =>
    andThen(chain.poolContent(), (pool) => contentText(pool, ({ tx, sender }) => transactionText(tx, sender))),
});

/** `txpool_contentFrom`: the pooled transactions of one sender by nonce. */
export const contentFrom = defineMethod({
  name: "txpool_contentFrom",
  params: { sender: address },
  example: [SAMPLE.alice],
  result: rawJsonOf(
    shape("PoolContentOfSender", {
      pending: mapOf(TRANSACTION),
      queued: mapOf(TRANSACTION),
    }),
  ),
  handle: ({ sender }, { chain }: { chain: Pick<ChainView, "poolContentFrom"> }) =>
    andThen(
      chain.poolContentFrom({ address: sender }),
      ({ pending, queued }) =>
        `{"pending":${byNonceText(pending, pooledText)},"queued":${byNonceText(queued, pooledText)}}`,
    ),
});

function pooledText({ tx, sender }: PooledTransaction): string {
  return transactionText(tx, sender);
}

/** `txpool_inspect`: as `txpool_content`, each transaction as one line of text. */
export const inspect = defineMethod({
  name: "txpool_inspect",
  params: {},
  result: rawJsonOf(
    shape("PoolSummary", {
      pending: mapOf(mapOf({ type: "string" })),
      queued: mapOf(mapOf({ type: "string" })),
    }),
  ),
  heavy: true,
  handle: (_params, { chain }: { chain: Pick<ChainView, "poolContent"> }) =>
    andThen(chain.poolContent(), (pool) => contentText(pool, summaryText)),
});

function summaryText({ tx }: PooledTransaction): string {
  const receiver = tx.to === null ? "contract creation" : checksumAddress(tx.to);
  return `"${receiver}: ${tx.value} wei + ${tx.gasLimit} gas × ${maxFeePerGasOf(tx)} wei"`;
}

export const TXPOOL_METHODS: readonly Method<ServingPorts>[] = [content, contentFrom, inspect, status];
