import { defineMethod } from "../../dispatch/method.ts";
import { uncleTextAt } from "../../json/block-json.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { quantityNumber, rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { BlockModules } from "./block-modules.ts";

/** `eth_getUncleByBlockNumberAndIndex`: an uncle's header as a block without transactions; null where there is none. */
export const getUncleByBlockNumberAndIndex = defineMethod({
  name: "eth_getUncleByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  result: rawJson,
  handle: ({ block, index }, { chain, sessions }: BlockModules) =>
    andThen(chain.block(block), (executed) =>
      uncleTextAt(executed, index, sessions.blockJson.style),
    ),
});
