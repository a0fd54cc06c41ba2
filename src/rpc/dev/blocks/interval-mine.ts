import { boolean } from "../../params/codec.ts";
import { controlMethods, type DevModules } from "../control-methods.ts";

/** Makes one block now, as the clock of interval mining does; true. */
export const intervalMine = controlMethods({
  names: ["hardhat_intervalMine"],
  params: {},
  result: boolean,
  async handle(_params, { dev }: DevModules) {
    await dev.mine({ blocks: 1 });
    return true;
  },
});
