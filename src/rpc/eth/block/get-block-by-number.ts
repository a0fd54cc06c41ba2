import { defineMethod } from "../../dispatch/method.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { boolean, rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { BlockModules } from "./block-modules.ts";

/** `eth_getBlockByNumber`: the block with transaction hashes, or whole transactions when `isFull`; null beyond the head. */
export const getBlockByNumber = defineMethod({
  name: "eth_getBlockByNumber",
  params: { block: blockNumberOrTag, isFull: boolean },
  result: rawJson,
  handle: ({ block, isFull }, { chain, sessions: { blockJson } }: BlockModules) =>
    andThen(chain.block(block), (executed) => {
      if (!executed) return "null";
      if (block === "pending") return blockJson.pendingText(executed, isFull);
      return blockJson.get(executed, isFull ? "full" : "hashes");
    }),
});
