import { boolean } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";

/** Whether a transaction is mined as soon as it arrives. */
export const setAutomine = controlMethods({
  names: ["evm_setAutomine", "anvil_setAutomine"],
  params: { automine: boolean },
  handle: ({ automine }, { dev }: DevModules) => dev.configure({ automine }),
});
