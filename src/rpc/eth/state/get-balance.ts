import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, optional, quantity } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";
import { andThen } from "../../ports/maybe-promise.ts";

/**
 * `eth_getBalance`: balance of `account` in wei, in the state after `block`.
 *
 * An account never touched has balance 0: an answer, not an error.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 * @see execution-apis `src/eth/state.yaml`; EIP-1898 for the block parameter
 */
export const getBalance = defineMethod({
  name: "eth_getBalance",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: quantity,
  handle: ({ account, block }, { chain }: { chain: Pick<ChainView, "account"> }) =>
    andThen(chain.account(account, block), (found) => found?.balance ?? 0n),
});
