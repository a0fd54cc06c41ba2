import { address } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** From now on `eth_sendTransaction` sends for this account without a key, for a contract too. */
export const impersonateAccount = controlMethods({
  names: bothNames("impersonateAccount"),
  params: { address },
  handle: ({ address }, { dev }: DevModules) => dev.impersonate(address, true),
});
