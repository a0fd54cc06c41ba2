import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

/** Milliseconds between two blocks made by the clock; 0: none are. `anvil_setIntervalMining` takes seconds. */
export const setIntervalMining = controlMethods({
  names: ["evm_setIntervalMining"],
  params: { milliseconds: lenientCount },
  handle: ({ milliseconds }, { dev }: DevModules) => dev.configure({ intervalMs: milliseconds }),
});

/** The same in seconds. Transactions wait for the clock from then on. */
export const setIntervalMiningSeconds = controlMethods({
  names: ["anvil_setIntervalMining"],
  params: { seconds: lenientCount },
  handle: ({ seconds }, { dev }: DevModules) =>
    dev.configure({ intervalMs: 1000 * seconds, automine: seconds === 0 }),
});
