import type { Chain } from "../../../chain/chain.ts";
import type { ExecutionModules } from "../../../evm/execution/block/block-execution.ts";
import { createEvm } from "../../../evm/machine/engine.ts";
import type { Evm } from "../../../evm/machine/evm.ts";
import type { ContractCompiler } from "../../../evm/machine/modules/compiled-tier.ts";
import { hotTier } from "../../compiled-contracts/compiled-modules.ts";

/** The engine of this thread: it takes 250 MB of address space, and caches only code by its hash. */
let engine: Evm | undefined;

/**
 * The modules that execute blocks on `chain`. All chains of a thread share one engine, created at the first execution; with a compiler, each
 * chain has a separate one.
 */
export function executionModules({ config, stateTrie }: Chain, compiler?: ContractCompiler): ExecutionModules {
  let own: Evm | undefined;
  return {
    config,
    stateTrie,
    get evm() {
      if (compiler) {
        own ??= createEvm(hotTier(compiler));
        return own;
      }
      engine ??= createEvm();
      return engine;
    },
  };
}
