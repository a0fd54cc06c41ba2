import { address } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";

/** Sets the nonce of an account; a lower one than before makes contract addresses collide. */
export const setNonce = controlMethods({
  names: bothNames("setNonce", "evm_setAccountNonce"),
  params: { address, nonce: lenientNumber },
  handle: ({ address, nonce }, { dev }: DevModules) => dev.edit([{ address, nonce }]),
});
