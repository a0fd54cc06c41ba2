import { jsonInteger } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

/** Sets the clock to Unix seconds; the seconds by which it was moved, as a JSON integer. */
export const setTime = controlMethods({
  names: ["evm_setTime", "anvil_setTime"],
  params: { timestamp: lenientCount },
  result: jsonInteger,
  handle: ({ timestamp }, { dev }: DevModules) => dev.setTime(timestamp),
});
