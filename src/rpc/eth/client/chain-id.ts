import { defineMethod } from "../../dispatch/method.ts";
import { quantity } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";

/** `eth_chainId`: the id transactions are signed for (EIP-155, EIP-695). */
export const chainId = defineMethod({
  name: "eth_chainId",
  params: {},
  result: quantity,
  handle: (_params, { chain }: { chain: Pick<ChainView, "config"> }) => chain.config.chainId,
});
