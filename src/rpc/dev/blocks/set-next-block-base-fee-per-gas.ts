import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";
import { lenientNumber } from "../lenient-number.ts";

/** Sets the base fee of the next block, in wei; the blocks after it follow the fee market. */
export const setNextBlockBaseFeePerGas = controlMethods({
  names: bothNames("setNextBlockBaseFeePerGas"),
  params: { baseFeePerGas: lenientNumber },
  handle: ({ baseFeePerGas }, { dev }: DevModules) => dev.setNextBlock({ baseFeePerGas }),
});
