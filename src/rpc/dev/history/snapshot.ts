import { toQuantity } from "../../../primitives/quantity.ts";
import { quantity } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";

/** Remembers the chain with its clock, settings and pool; the id is for one `evm_revert`. */
export const snapshot = controlMethods({
  names: ["evm_snapshot", "anvil_snapshot"],
  params: {},
  result: quantity,
  handle: async (_params, { dev }: DevModules) => toQuantity(await dev.snapshot()),
});
