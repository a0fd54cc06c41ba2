import type { Config } from "../config/config.ts";
import type { ChainCore } from "./compose-chain.ts";
export function createFeeReader(_config: Config, _core: ChainCore) {
  return {
    suggestTip: () => 1_000_000n,
    history: () => {
      throw new Error("x");
    },
  };
}
