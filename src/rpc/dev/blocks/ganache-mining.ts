import { controlMethods, type DevModules } from "../control-methods.ts";

/** `miner_start` and `miner_stop`: ganache's names for automatic blocks on and off. */
export const ganacheMining = [
  ...controlMethods({
    names: ["miner_start"],
    params: {},
    handle: (_params, { dev }: DevModules) => dev.configure({ automine: true }),
  }),
  ...controlMethods({
    names: ["miner_stop"],
    params: {},
    handle: (_params, { dev }: DevModules) => dev.configure({ automine: false }),
  }),
];
