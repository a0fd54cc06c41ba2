import { boolean } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Whether the node logs a line for each transaction. */
export const setLoggingEnabled = controlMethods({
  names: bothNames("setLoggingEnabled"),
  params: { isOn: boolean },
  handle: ({ isOn }, { dev }: DevModules) => dev.configure({ logging: isOn }),
});
