import { defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText, transactionText } from "../../json/transaction-json.ts";
import { address, quantity64, rawJson } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/** `eth_getTransactionBySenderAndNonce`: the sender's transaction with that nonce, mined or pooled; null when there is none. */
export const getTransactionBySenderAndNonce = defineMethod({
  name: "eth_getTransactionBySenderAndNonce",
  params: { sender: address, nonce: quantity64 },
  result: rawJson,
  handle: (
    { sender, nonce },
    { chain }: { chain: Pick<ChainView, "transactionBySender" | "poolContentFrom"> },
  ) =>
    andThen(chain.transactionBySender(sender, nonce), ({ isUsed, mined }) => {
      // A nonce is also used up by an authorization (EIP-7702) or by a contract that creates another.
      if (isUsed) return minedTransactionText(mined);
      return andThen(chain.poolContentFrom(sender), ({ pending, queued }) => {
        const pooled = [...pending, ...queued].find(({ tx }) => tx.nonce === nonce);
        return pooled ? transactionText(pooled.tx, sender) : "null";
      });
    }),
});
