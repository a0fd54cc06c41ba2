import { boolean } from "../../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "../control-methods.ts";

/** Undoes `anvil_setBlockTimestampInterval`; whether there was an interval. */
export const removeBlockTimestampInterval = controlMethods({
  names: bothNames("removeBlockTimestampInterval"),
  params: {},
  result: boolean,
  async handle(_params, { dev }: DevModules) {
    const { timestampInterval } = await dev.settings();
    await dev.configure({ timestampInterval: undefined });
    return timestampInterval !== undefined;
  },
});
