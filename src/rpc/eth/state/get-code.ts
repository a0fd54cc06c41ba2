import { defineMethod } from "../../dispatch/method.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { address, data, optional } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";

/**
 * `eth_getCode`: code of `account` in the state after `block`, empty when it has none. A delegation (EIP-7702) is shown as it is.
 *
 * @throws UnknownBlockError, BlockNotCanonicalError
 */
export const getCode = defineMethod({
  name: "eth_getCode",
  params: { account: address, block: optional(blockSelector, "latest") },
  result: data,
  handle: ({ account, block }, { chain }: { chain: Pick<ChainView, "code"> }) =>
    chain.code(account, block),
});
