import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { quantity } from "../../params/codec.ts";

/** `eth_chainId`: the id transactions are signed for (EIP-155, EIP-695). */
export const chainId = defineMethod({
  name: "eth_chainId",
  params: {},
  result: quantity,
  handle: (_params, { chain }: { chain: ChainReader }) => chain.config.chainId,
});
