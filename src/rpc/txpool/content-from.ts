import type { PooledTransaction } from "../../mempool/pool.ts";
import { defineMethod } from "../dispatch/method.ts";
import { transactionText } from "../json/transaction-json.ts";
import { address, rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { byNonceText } from "./pool-json.ts";

/** `txpool_contentFrom`: the pooled transactions of one sender by nonce. */
export const contentFrom = defineMethod({
  name: "txpool_contentFrom",
  params: { sender: address },
  result: rawJson,
  handle: ({ sender }, { chain }: { chain: Pick<ChainView, "poolContentFrom"> }) =>
    andThen(
      chain.poolContentFrom(sender),
      ({ pending, queued }) =>
        `{"pending":${byNonceText(pending, pooledText)},"queued":${byNonceText(queued, pooledText)}}`,
    ),
});

function pooledText({ tx, sender }: PooledTransaction): string {
  return transactionText(tx, sender);
}
