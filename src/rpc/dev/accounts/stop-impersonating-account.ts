import { address } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Undoes `hardhat_impersonateAccount`. */
export const stopImpersonatingAccount = controlMethods({
  names: bothNames("stopImpersonatingAccount"),
  params: { address },
  handle: ({ address }, { dev }: DevModules) => dev.impersonate(address, false),
});
