import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import type { BlockJsonCache } from "../../json/block-json-cache.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { boolean, rawJson } from "../../params/codec.ts";
import { findByNumber } from "../../ports/resolve.ts";

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
