import { bothNames, controlMethods, type DevModules } from "./control-methods.ts";
import { lenientCount } from "./lenient-number.ts";

/** From now on each block is so many seconds after the one before, whatever the clock says. */
export const setBlockTimestampInterval = controlMethods({
  names: bothNames("setBlockTimestampInterval"),
  params: { seconds: lenientCount },
  handle: ({ seconds }, { dev }: DevModules) => dev.configure({ timestampInterval: seconds }),
});
