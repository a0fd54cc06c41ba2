import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import type { BlockJsonCache } from "../../json/block-json-cache.ts";
import { hash, rawJson } from "../../params/codec.ts";

/** `eth_getHeaderByHash`: the block's header; null when unknown. */
export const getHeaderByHash = defineMethod({
  name: "eth_getHeaderByHash",
  params: { blockHash: hash },
  result: rawJson,
  handle({ blockHash }, { chain, blockJson }: { chain: ChainReader; blockJson: BlockJsonCache }) {
    const executed = chain.blockByHash(blockHash);
    return executed ? blockJson.get(executed, "header") : "null";
  },
});
