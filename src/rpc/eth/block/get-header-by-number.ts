import { defineMethod } from "../../dispatch/method.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { HeaderModules } from "./block-modules.ts";

/** `eth_getHeaderByNumber`: the block's header; null beyond the head. */
export const getHeaderByNumber = defineMethod({
  name: "eth_getHeaderByNumber",
  params: { block: blockNumberOrTag },
  result: rawJson,
  handle: ({ block }, { chain, sessions: { blockJson } }: HeaderModules) =>
    andThen(chain.header(block), (sealed) => {
      if (!sealed) return "null";
      return block === "pending" ? blockJson.pendingHeaderText(sealed) : blockJson.header(sealed);
    }),
});
