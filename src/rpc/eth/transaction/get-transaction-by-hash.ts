import { defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText, transactionText } from "../../json/transaction-json.ts";
import { hash, rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getTransactionByHash`: the transaction from the chain, or else from the pool, pending or queued; null when unknown. */
export const getTransactionByHash = defineMethod({
  name: "eth_getTransactionByHash",
  params: { transactionHash: hash },
  result: rawJson,
  handle: ({ transactionHash }, { chain }: { chain: Pick<ChainView, "transaction" | "pooled"> }) =>
    andThen(chain.transaction(transactionHash), (mined) => {
      if (mined) return minedTransactionText(mined);
      return andThen(chain.pooled(transactionHash), (pooled) => {
        if (pooled) return transactionText(pooled.tx, pooled.sender);
        // Where the pool is in another process, a block may have included it between the two looks.
        return andThen(chain.transaction(transactionHash), (mined) =>
          mined ? minedTransactionText(mined) : "null",
        );
      });
    }),
});
