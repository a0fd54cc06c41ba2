import { defineMethod } from "../dispatch/method.ts";
import { boolean } from "../params/codec.ts";
import type { DevChain } from "./port.ts";

/** `hardhat_getAutomine`: whether a transaction is mined as soon as it arrives; Ignition then skips waiting for confirmations. */
export const hardhatGetAutomine = defineMethod({
  name: "hardhat_getAutomine",
  params: {},
  result: boolean,
  private: true,
  handle: (_params, { devChain }: { readonly devChain: DevChain }) => devChain.isAutomine,
});
