import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { address, boolean, optional } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";

/**
 * `ots_hasCode`: whether an account has code in the state after `block`.
 *
 * @throws UnknownBlockError
 */
export const hasCode = defineMethod({
  name: "ots_hasCode",
  params: { address, block: optional(blockSelector, "latest") },
  result: boolean,
  handle: ({ address, block }, { chain }: { chain: Pick<ChainView, "code"> }) =>
    andThen(chain.code(address, block), (code) => code.length > 0),
});
