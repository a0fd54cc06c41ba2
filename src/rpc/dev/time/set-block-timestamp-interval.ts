import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

/** From now on each block is so many seconds after the one before, whatever the clock says. */
export const setBlockTimestampInterval = controlMethods({
  names: ["anvil_setBlockTimestampInterval", "evm_setBlockTimestampInterval"],
  params: { seconds: lenientCount },
  handle: ({ seconds }, { dev }: DevModules) => dev.configure({ timestampInterval: seconds }),
});

/** The same in milliseconds, as viem asks a node of Hardhat's kind. */
export const setBlockTimestampIntervalMs = controlMethods({
  names: ["hardhat_setBlockTimestampInterval"],
  params: { milliseconds: lenientCount },
  handle: ({ milliseconds }, { dev }: DevModules) =>
    dev.configure({ timestampInterval: Math.max(1, Math.round(milliseconds / 1000)) }),
});
