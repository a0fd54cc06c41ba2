import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

/** Sets the timestamp of the next block, in Unix seconds; the clock goes on from there. */
export const setNextBlockTimestamp = controlMethods({
  names: ["evm_setNextBlockTimestamp", "anvil_setNextBlockTimestamp"],
  params: { timestamp: lenientCount },
  handle: ({ timestamp }, { dev }: DevModules) => dev.setNextBlock({ timestamp }),
});
