import { boolean } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Whether every account sends without a key. */
export const autoImpersonateAccount = controlMethods({
  names: bothNames("autoImpersonateAccount"),
  params: { isOn: boolean },
  handle: ({ isOn }, { dev }: DevModules) => dev.configure({ autoImpersonate: isOn }),
});
