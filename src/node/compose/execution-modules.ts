import type { Chain } from "../../chain/chain.ts";
import { createEvm } from "../../evm/engine.ts";
import type { Evm } from "../../evm/evm.ts";
import type { ExecutionModules } from "../../execution/block/block-execution.ts";

/** The engine of this thread: it takes 250 MB of address space, and holds nothing of a chain but code by its hash. */
let engine: Evm | undefined;

/** What executes blocks on `chain`. All chains of a thread share an engine, made at the first execution. */
export function executionModules({ config, stateTrie }: Chain): ExecutionModules {
  return {
    config,
    stateTrie,
    get evm() {
      engine ??= createEvm();
      return engine;
    },
  };
}
