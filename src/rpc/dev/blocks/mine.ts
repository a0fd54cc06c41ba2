import { optional } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";
import { lenientCount } from "../lenient-number.ts";

const params = { blocks: optional(lenientCount, 1), intervalSeconds: optional(lenientCount, 0) };

/** `hardhat_mine`: makes blocks now, 1 unless more are asked for, with so many seconds between them. */
export const hardhatMine = controlMethods({
  names: ["hardhat_mine"],
  params,
  async handle({ blocks, intervalSeconds }, { dev }: DevModules) {
    await dev.mine({ blocks, intervalSeconds });
  },
});

/** `anvil_mine`: the same; the first block is so many seconds after the head as well. */
export const anvilMine = controlMethods({
  names: ["anvil_mine"],
  params,
  async handle({ blocks, intervalSeconds }, { dev }: DevModules) {
    await dev.mine({ blocks, intervalSeconds, spacesFirst: true });
  },
});
