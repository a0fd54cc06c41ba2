import { defineMethod } from "../dispatch/method.ts";
import { rawJson } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { Sessions } from "../ports/rpc-ports.ts";
import { otsBlockNumber } from "./block-number.ts";
import { blockDetails } from "./block-summary.ts";

export type BlockDetailsModules = {
  readonly chain: Pick<ChainView, "block" | "config" | "genesisHash">;
  readonly sessions: Pick<Sessions, "blockJson">;
};

/** `ots_getBlockDetails`: a block without its transactions, what was issued for it and what its transactions paid; null beyond the head. */
export const getBlockDetails = defineMethod({
  name: "ots_getBlockDetails",
  params: { block: otsBlockNumber },
  result: rawJson,
  handle: ({ block }, { chain, sessions }: BlockDetailsModules) =>
    andThen(chain.block(block), (executed) =>
      executed ? blockDetails(executed, chain, sessions) : "null",
    ),
});
