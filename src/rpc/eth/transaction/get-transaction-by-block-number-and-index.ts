import type { ChainReader } from "../../../chain/reader.ts";
import { aliasMethod, defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText } from "../../json/block-json.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { quantityNumber, rawJson } from "../../params/codec.ts";
import { findByNumber } from "../../ports/resolve.ts";

/** `eth_getTransactionByBlockNumberAndIndex`: a transaction by its place; null when block or place does not exist. */
export const getTransactionByBlockNumberAndIndex = defineMethod({
  name: "eth_getTransactionByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  result: rawJson,
  handle({ block, index }, { chain }: { chain: ChainReader }) {
    const executed = findByNumber(chain, block);
    if (!executed || index >= executed.block.transactions.length) return "null";
    return minedTransactionText(executed, index);
  },
});

/** The same under the spelling of the service description. */
export const getTransactionbyBlockNumberAndIndex = aliasMethod(
  getTransactionByBlockNumberAndIndex,
  "eth_getTransactionbyBlockNumberAndIndex",
);
