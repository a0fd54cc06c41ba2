import { jsonInteger } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

/** Moves the clock on; the seconds that it is ahead of the system's, as a JSON integer. */
export const increaseTime = controlMethods({
  names: ["evm_increaseTime", "anvil_increaseTime"],
  params: { seconds: lenientCount },
  result: jsonInteger,
  handle: ({ seconds }, { dev }: DevModules) => dev.increaseTime(seconds),
});
