import { address, data } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Sets the code of an account; its storage stays. */
export const setCode = controlMethods({
  names: bothNames("setCode", "evm_setAccountCode"),
  params: { address, code: data },
  handle: ({ address, code }, { dev }: DevModules) => dev.edit([{ address, code }]),
});
