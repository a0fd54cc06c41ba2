import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import type { BlockJsonCache } from "../../json/block-json-cache.ts";
import { receiptsText } from "../../json/receipt-json.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { rawJson } from "../../params/codec.ts";
import { findBlock } from "../../ports/resolve.ts";

/**
 * `eth_getBlockReceipts`: every receipt of the block; null when there is no such block.
 *
 * @throws BlockNotCanonicalError
 */
export const getBlockReceipts = defineMethod({
  name: "eth_getBlockReceipts",
  params: { block: blockSelector },
  result: rawJson,
  handle({ block }, { chain, blockJson }: { chain: ChainReader; blockJson: BlockJsonCache }) {
    const executed = findBlock(chain, block);
    if (!executed) return "null";
    return block === "pending" ? receiptsText(executed) : blockJson.get(executed, "receipts");
  },
});
