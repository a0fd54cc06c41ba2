import type { ChainReader } from "../../chain/reader.ts";
import { blockNumberOrTag } from "../block-selector.ts";
import { boolean, rawJson } from "../codec.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import { defineMethod } from "../method.ts";
import { findByNumber } from "../resolve.ts";

/** `eth_getBlockByNumber`: the block with transaction hashes, or whole transactions when `isFull`; null beyond the head. */
export const getBlockByNumber = defineMethod({
  name: "eth_getBlockByNumber",
  params: { block: blockNumberOrTag, isFull: boolean },
  result: rawJson,
  handle(
    { block, isFull },
    { chain, blockJson }: { chain: ChainReader; blockJson: BlockJsonCache },
  ) {
    const executed = findByNumber(chain, block);
    if (!executed) return "null";
    if (block === "pending") return blockJson.pendingText(executed, isFull);
    return blockJson.get(executed, isFull ? "full" : "hashes");
  },
});
