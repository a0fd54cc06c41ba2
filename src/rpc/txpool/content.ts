import { defineMethod } from "../dispatch/method.ts";
import { transactionText } from "../json/transaction-json.ts";
import { rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { contentText } from "./pool-json.ts";

/** `txpool_content`: every pooled transaction by sender (EIP-55) and nonce (decimal). */
export const content = defineMethod({
  name: "txpool_content",
  params: {},
  result: rawJson,
  heavy: true,
  handle: (_params, { chain }: { chain: Pick<ChainView, "poolContent"> }) =>
    andThen(chain.poolContent(), (pool) =>
      contentText(pool, ({ tx, sender }) => transactionText(tx, sender)),
    ),
});
