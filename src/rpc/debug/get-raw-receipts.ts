import { encodeReceipt } from "../../types/receipt-codec.ts";
import { defineMethod } from "../dispatch/method.ts";
import { blockSelector } from "../params/block-selector.ts";
import { array, data, nullable } from "../params/codec.ts";
import type { ChainView } from "../ports/chain-view.ts";
import { andThen } from "../ports/maybe-promise.ts";
import { rawSelector } from "./raw-selector.ts";

/** `debug_getRawReceipts`: consensus encoding of each receipt; for an unknown number null, for an unknown hash none, as in geth. */
export const getRawReceipts = defineMethod({
  name: "debug_getRawReceipts",
  params: { block: blockSelector },
  result: nullable(array(data)),
  handle: ({ block }, { chain }: { chain: Pick<ChainView, "block"> }) =>
    andThen(chain.block(rawSelector(block)), (executed) => {
      if (executed) return executed.receipts.map(encodeReceipt);
      return typeof block === "object" ? [] : null;
    }),
});
