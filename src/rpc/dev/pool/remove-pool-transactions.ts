import { address } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";

/** Takes the transactions of an account out of the pool. */
export const removePoolTransactions = controlMethods({
  names: ["anvil_removePoolTransactions"],
  params: { address },
  handle: ({ address }, { dev }: DevModules) => dev.dropAll(address),
});
