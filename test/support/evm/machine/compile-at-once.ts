import type { Hardfork } from "../../../../src/base/params/hardforks.ts";
import type { Hash } from "../../../../src/base/primitives/hash.ts";
import { compileModule, compileOptimised } from "../../../../src/base/wasm/compile.ts";
import { ContractEmitter } from "../../../../src/evm/machine/gen/compiled/contract.ts";
import type { ContractCompiler, TierOptions } from "../../../../src/evm/machine/modules/compiled-tier.ts";
import { rulesOf } from "../../../../src/evm/machine/rules.ts";

/** Modules remembered before all are forgotten: tests run a great many programs once. */
const MODULES_MAX = 200;

/**
 * A compiled tier in which all code is hot at its first call and compiled on the spot.
 * @param options.alternates see `TierOptions`
 * @param options.compiled gets the hash of every code that is compiled
 * @param options.isOptimised as a node compiles; otherwise V8 optimises what runs often, which is faster to begin with
 */
export function compileAtOnce({
  alternates = false,
  isOptimised = false,
  compiled,
}: {
  readonly alternates?: boolean;
  readonly isOptimised?: boolean;
  readonly compiled?: Set<Hash>;
} = {}): TierOptions {
  const modules = new Map<string, WebAssembly.Module>();
  const emitters = new Map<Hardfork, ContractEmitter>();
  const compiler: ContractCompiler = {
    // Engines hold on to what this one forgets.
    has: () => true,
    dropped: 0,
    moduleOf(hash, code, hardfork) {
      const key = `${hardfork} ${hash}`;
      let module = modules.get(key);
      if (module === undefined) {
        const emitter = emitters.get(hardfork) ?? new ContractEmitter(rulesOf(hardfork));
        emitters.set(hardfork, emitter);
        const bytes = emitter.emit(code, { leavesAtBorders: alternates });
        if (bytes === undefined) return undefined;
        compiled?.add(hash);
        module = isOptimised ? compileOptimised(bytes) : compileModule(bytes);
        if (modules.size >= MODULES_MAX) modules.clear();
        modules.set(key, module);
      }
      return module;
    },
  };
  return { compiler, hotGasPerByte: 0, alternates };
}
