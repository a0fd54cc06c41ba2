import type { Chain } from "../chain/chain.ts";
import { createEthereumjsEvm } from "../evm/ethereumjs/evm.ts";
import type { ExecutionModules } from "../execution/block-execution.ts";

/** What executes blocks on `chain`. */
export function executionModules({ config, stateTrie }: Chain): ExecutionModules {
  return { config, stateTrie, evm: createEthereumjsEvm() };
}
