import type { ChainReader } from "../../../chain/reader.ts";
import { defineMethod } from "../../dispatch/method.ts";
import { quantity } from "../../params/codec.ts";
import type { FeeReader } from "../../ports/execution.ts";

/** `eth_gasPrice`: suggested tip plus the head's base fee, in wei. */
export const gasPrice = defineMethod({
  name: "eth_gasPrice",
  params: {},
  result: quantity,
  async handle(_params, { chain, fees }: { chain: ChainReader; fees: FeeReader }) {
    const baseFee = chain.head().block.header.baseFeePerGas ?? 0n;
    return (await fees.suggestTip()) + baseFee;
  },
});
