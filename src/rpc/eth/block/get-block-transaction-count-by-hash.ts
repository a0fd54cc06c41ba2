import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { hash, nullable, quantityNumber } from "../../params/codec.ts";

/** `eth_getBlockTransactionCountByHash`: how many transactions the block holds; null when unknown. */
export const getBlockTransactionCountByHash = defineMethod({
  name: "eth_getBlockTransactionCountByHash",
  params: { blockHash: hash },
  result: nullable(quantityNumber),
  handle: ({ blockHash }, { chain }: { chain: ChainReader }) =>
    chain.blockByHash(blockHash)?.block.transactions.length ?? null,
});
