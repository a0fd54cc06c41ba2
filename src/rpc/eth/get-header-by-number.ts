import type { ChainReader } from "../../chain/reader.ts";
import { blockNumberOrTag } from "../block-selector.ts";
import { rawJson } from "../codec.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import { defineMethod } from "../method.ts";
import { findByNumber } from "../resolve.ts";

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
