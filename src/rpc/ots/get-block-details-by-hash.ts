import { defineMethod } from "../dispatch/method.ts";
import { byHash } from "../params/block-selector.ts";
import { hash, rawJson } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { blockDetails } from "./block-summary.ts";
import type { BlockDetailsModules } from "./get-block-details.ts";

/** `ots_getBlockDetailsByHash`: as `ots_getBlockDetails`, of the block with this hash; null where there is none. */
export const getBlockDetailsByHash = defineMethod({
  name: "ots_getBlockDetailsByHash",
  params: { blockHash: hash },
  result: rawJson,
  handle: ({ blockHash }, { chain, sessions }: BlockDetailsModules) =>
    andThen(chain.block(byHash(blockHash)), (executed) =>
      executed ? blockDetails(executed, chain, sessions) : "null",
    ),
});
