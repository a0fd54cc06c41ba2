import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { minedTransactionText } from "../../json/block-json.ts";
import { hash, quantityNumber, rawJson } from "../../params/codec.ts";

/** `eth_getTransactionByBlockHashAndIndex`: a transaction by its place; null when block or place does not exist. */
export const getTransactionByBlockHashAndIndex = defineMethod({
  name: "eth_getTransactionByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  result: rawJson,
  handle({ blockHash, index }, { chain }: { chain: ChainReader }) {
    const executed = chain.blockByHash(blockHash);
    if (!executed || index >= executed.block.transactions.length) return "null";
    return minedTransactionText(executed, index);
  },
});
