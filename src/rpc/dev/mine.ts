import { optional } from "../params/codec.ts";
import { bothNames, controlMethods, type DevModules } from "./control-methods.ts";
import { lenientCount } from "./lenient-number.ts";

/** Makes blocks now, 1 unless more are asked for, with so many seconds between them. */
export const mine = controlMethods({
  names: bothNames("mine"),
  params: { blocks: optional(lenientCount, 1), intervalSeconds: optional(lenientCount, 0) },
  async handle({ blocks, intervalSeconds }, { dev }: DevModules) {
    await dev.mine({ blocks, intervalSeconds });
  },
});
