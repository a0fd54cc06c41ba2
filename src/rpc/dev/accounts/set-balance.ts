import { address } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";

/** Sets the balance of an account, in wei. */
export const setBalance = controlMethods({
  names: bothNames("setBalance", "evm_setAccountBalance", "tenderly_setBalance"),
  params: { address, balance: lenientNumber },
  handle: ({ address, balance }, { dev }: DevModules) => dev.edit([{ address, balance }]),
});
