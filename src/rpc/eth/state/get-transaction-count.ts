import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, optional, quantity } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_getTransactionCount`: nonce of `account` in the state after `block`. For `pending` it is the pool's next nonce; no block is
 * built for that.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getTransactionCount = defineMethod({
  name: "eth_getTransactionCount",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: quantity,
  handle({ account, block }, { chain }: { chain: Pick<ChainView, "account" | "nextNonce"> }) {
    if (block === "pending") return chain.nextNonce(account);
    return andThen(chain.account(account, block), (found) => found?.nonce ?? 0n);
  },
});
