import { defineMethod } from "../../dispatch/method.ts";
import { receiptsText } from "../../json/receipt-json.ts";
import { blockSelector } from "../../params/block-selector.ts";
import { rawJson } from "../../params/codec.ts";
import { andThen } from "../../ports/maybe-promise.ts";
import type { BlockModules } from "./block-modules.ts";

/**
 * `eth_getBlockReceipts`: every receipt of the block; null when there is no such block.
 *
 * @throws BlockNotCanonicalError
 */
export const getBlockReceipts = defineMethod({
  name: "eth_getBlockReceipts",
  params: { block: blockSelector },
  result: rawJson,
  handle: ({ block }, { chain, sessions: { blockJson } }: BlockModules) =>
    andThen(chain.block(block), (executed) => {
      if (!executed) return "null";
      return block === "pending" ? receiptsText(executed) : blockJson.get(executed, "receipts");
    }),
});
