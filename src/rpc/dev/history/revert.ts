import { boolean } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

/** Goes back to a snapshot, which is used up with all after it; false when there is none. */
export const revert = controlMethods({
  names: ["evm_revert", "anvil_revert"],
  params: { id: lenientCount },
  result: boolean,
  handle: ({ id }, { dev }: DevModules) => dev.revert(id),
});
