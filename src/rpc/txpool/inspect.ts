import type { PooledTransaction } from "../../mempool/pool.ts";
import { checksumAddress } from "../../primitives/address.ts";
import { maxFeePerGasOf } from "../../types/transaction/fees.ts";
import { defineMethod } from "../dispatch/method.ts";
import { rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { contentText } from "./pool-json.ts";

/** `txpool_inspect`: as `txpool_content`, each transaction as one line of text. */
export const inspect = defineMethod({
  name: "txpool_inspect",
  params: {},
  result: rawJson,
  heavy: true,
  handle: (_params, { chain }: { chain: Pick<ChainView, "poolContent"> }) =>
    andThen(chain.poolContent(), (pool) => contentText(pool, summaryText)),
});

function summaryText({ tx }: PooledTransaction): string {
  const receiver = tx.to === null ? "contract creation" : checksumAddress(tx.to);
  return `"${receiver}: ${tx.value} wei + ${tx.gasLimit} gas × ${maxFeePerGasOf(tx)} wei"`;
}
