import { defineMethod } from "../../dispatch/method.ts";
import { quantity } from "../../params/codec.ts";
import type { ChainView } from "../../ports/chain-view.ts";

/** `eth_gasPrice`: suggested tip plus the head's base fee, in wei. */
export const gasPrice = defineMethod({
  name: "eth_gasPrice",
  params: {},
  result: quantity,
  async handle(_params, { chain }: { chain: Pick<ChainView, "head" | "suggestTip"> }) {
    const { header } = await chain.head();
    return (await chain.suggestTip()) + (header.baseFeePerGas ?? 0n);
  },
});
