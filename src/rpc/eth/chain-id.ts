import type { ChainReader } from "../../chain/reader.ts";
import { quantity } from "../codec.ts";
import { defineMethod } from "../method.ts";

/** `eth_chainId`: the id transactions are signed for (EIP-155, EIP-695). */
export const chainId = defineMethod({
  name: "eth_chainId",
  params: {},
  result: quantity,
  handle: (_params, { chain }: { chain: ChainReader }) => chain.config.chainId,
});
