import type { Chain } from "../../chain/chain.ts";
import { createEvm } from "../../evm/engine.ts";
import type { Evm } from "../../evm/evm.ts";
import type { ContractCompiler } from "../../evm/modules/compiled-tier.ts";
import type { ExecutionModules } from "../../execution/block/block-execution.ts";

/** The engine of this thread: it takes 250 MB of address space, and holds nothing of a chain but code by its hash. */
let engine: Evm | undefined;

/**
 * Gas for each byte of code that a contract uses before it is compiled. V8 takes some 30 µs a byte to optimise it, in which the
 * interpreter uses some 200,000 gas: this is the gas of a tenth of that time.
 */
const HOT_GAS_PER_BYTE = 20_000;

/**
 * What executes blocks on `chain`. All chains of a thread share an engine, made at the first execution; with a compiler a
 * chain has one of its own.
 */
export function executionModules(
  { config, stateTrie }: Chain,
  compiler?: ContractCompiler,
): ExecutionModules {
  let own: Evm | undefined;
  return {
    config,
    stateTrie,
    get evm() {
      if (compiler) {
        own ??= createEvm({ tier: { compiler, hotGasPerByte: HOT_GAS_PER_BYTE } });
        return own;
      }
      engine ??= createEvm();
      return engine;
    },
  };
}
