import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import type { BlockJsonCache } from "../../json/block-json-cache.ts";
import { boolean, hash, rawJson } from "../../params/codec.ts";

/** `eth_getBlockByHash`: the block with transaction hashes, or whole transactions when `isFull`; null when unknown. */
export const getBlockByHash = defineMethod({
  name: "eth_getBlockByHash",
  params: { blockHash: hash, isFull: boolean },
  result: rawJson,
  handle(
    { blockHash, isFull },
    { chain, blockJson }: { chain: ChainReader; blockJson: BlockJsonCache },
  ) {
    const executed = chain.blockByHash(blockHash);
    return executed ? blockJson.get(executed, isFull ? "full" : "hashes") : "null";
  },
});
