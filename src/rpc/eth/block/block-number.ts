import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { quantityNumber } from "../../params/codec.ts";

/** `eth_blockNumber`: number of the newest block. */
export const blockNumber = defineMethod({
  name: "eth_blockNumber",
  params: {},
  result: quantityNumber,
  handle: (_params, { chain }: { chain: ChainReader }) => chain.head().block.header.number,
});
