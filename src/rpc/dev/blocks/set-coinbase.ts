import { address } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Sets who receives the tips of the next and all later blocks. */
export const setCoinbase = controlMethods({
  names: bothNames("setCoinbase"),
  params: { coinbase: address },
  handle: ({ coinbase }, { dev }: DevModules) => dev.configure({ coinbase }),
});
