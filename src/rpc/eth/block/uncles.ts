import type { ChainReader } from "../../../chain/reader.ts";
import type { ExecutedBlock } from "../../../types/block.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { uncleText } from "../../json/block-json.ts";
import type { BlockJsonCache } from "../../json/block-json-cache.ts";
import { blockNumberOrTag } from "../../params/block-selector.ts";
import { hash, nullable, quantityNumber, rawJson } from "../../params/codec.ts";
import { findByNumber } from "../../ports/resolve.ts";

// Blocks of our own have no uncles; imported proof-of-work blocks may.

/** `eth_getUncleCountByBlockHash`: null when the block is unknown. */
export const getUncleCountByBlockHash = defineMethod({
  name: "eth_getUncleCountByBlockHash",
  params: { blockHash: hash },
  result: nullable(quantityNumber),
  handle: ({ blockHash }, { chain }: { chain: ChainReader }) =>
    chain.blockByHash(blockHash)?.block.uncles.length ?? null,
});

/** `eth_getUncleCountByBlockNumber`: null beyond the head. */
export const getUncleCountByBlockNumber = defineMethod({
  name: "eth_getUncleCountByBlockNumber",
  params: { block: blockNumberOrTag },
  result: nullable(quantityNumber),
  handle: ({ block }, { chain }: { chain: ChainReader }) =>
    findByNumber(chain, block)?.block.uncles.length ?? null,
});

type Modules = { chain: ChainReader; blockJson: BlockJsonCache };

/** `eth_getUncleByBlockHashAndIndex`: the uncle's header with its size; null when there is none. */
export const getUncleByBlockHashAndIndex = defineMethod({
  name: "eth_getUncleByBlockHashAndIndex",
  params: { blockHash: hash, index: quantityNumber },
  result: rawJson,
  handle: ({ blockHash, index }, { chain, blockJson }: Modules) =>
    uncleAt(chain.blockByHash(blockHash), index, blockJson),
});

/** `eth_getUncleByBlockNumberAndIndex`: the uncle's header with its size; null when there is none. */
export const getUncleByBlockNumberAndIndex = defineMethod({
  name: "eth_getUncleByBlockNumberAndIndex",
  params: { block: blockNumberOrTag, index: quantityNumber },
  result: rawJson,
  handle: ({ block, index }, { chain, blockJson }: Modules) =>
    uncleAt(findByNumber(chain, block), index, blockJson),
});

function uncleAt(
  executed: ExecutedBlock | undefined,
  index: number,
  blockJson: BlockJsonCache,
): string {
  const uncle = executed?.block.uncles[index];
  return uncle ? uncleText(uncle, blockJson.style) : "null";
}
