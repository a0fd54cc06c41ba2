import { jsonInteger, nullable } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";

/** Seconds between two blocks made by the clock, as a JSON integer; null when none are. */
export const getIntervalMining = controlMethods({
  names: ["anvil_getIntervalMining"],
  params: {},
  result: nullable(jsonInteger),
  async handle(_params, { dev }: DevModules) {
    const { intervalMs = 0 } = await dev.settings();
    return intervalMs === 0 ? null : Math.round(intervalMs / 1000);
  },
});
