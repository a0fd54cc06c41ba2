import { defineMethod } from "../dispatch/method.ts";
import { boolean, quantity } from "../params/codec.ts";
import { andThen } from "../ports/maybe-promise.ts";
import type { MinerSettings } from "./port.ts";

/** `miner_setGasPrice`: writes the lowest gas price the node accepts and proposes to `app.toml`; in force after a restart. */
export const setGasPrice = defineMethod({
  name: "miner_setGasPrice",
  params: { gasPrice: quantity },
  result: boolean,
  private: true,
  handle: ({ gasPrice }, { node }: { node: Pick<MinerSettings, "setMinimumGasPrice"> }) =>
    andThen(node.setMinimumGasPrice(gasPrice), () => true),
});
