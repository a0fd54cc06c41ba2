import type { Chain } from "../chain/chain.ts";
import { createEvm } from "../evm/engine.ts";
import type { ExecutionModules } from "../execution/block/block-execution.ts";

/** What executes blocks on `chain`. */
export function executionModules({ config, stateTrie }: Chain): ExecutionModules {
  return { config, stateTrie, evm: createEvm() };
}
