import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import type { BlockJsonCache } from "../../json/block-json-cache.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { rawJson } from "../../params/codec.ts";
import { findByNumber } from "../../ports/resolve.ts";

/** `eth_getHeaderByNumber`: the block's header; null beyond the head. */
export const getHeaderByNumber = defineMethod({
  name: "eth_getHeaderByNumber",
  params: { block: blockNumberOrTag },
  result: rawJson,
  handle({ block }, { chain, blockJson }: { chain: ChainReader; blockJson: BlockJsonCache }) {
    const executed = findByNumber(chain, block);
    if (!executed) return "null";
    if (block === "pending") return blockJson.pendingHeaderText(executed);
    return blockJson.get(executed, "header");
  },
});
