import { defineMethod } from "../../dispatch/method.ts";
import { uncleTextAt } from "../../json/block-json.ts";
import { byHash } from "../../params/block-selector.ts";
import { hash, quantityNumber, rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { BlockModules } from "./block-modules.ts";

/** `eth_getUncleByBlockHashAndIndex`: an uncle's header as a block without transactions; null where there is none. */
export const getUncleByBlockHashAndIndex = defineMethod({
  name: "eth_getUncleByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  result: rawJson,
  handle: ({ blockHash, index }, { chain, sessions }: BlockModules) =>
    andThen(chain.block(byHash(blockHash)), (executed) =>
      uncleTextAt(executed, index, sessions.blockJson.style),
    ),
});
