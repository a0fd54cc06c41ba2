import { HARDFORKS, type Hardfork } from "../../src/base/params/hardforks.ts";
import type { Address } from "../../src/base/primitives/address.ts";
import type { Hash } from "../../src/base/primitives/hash.ts";
import { createEvm } from "../../src/evm/machine/engine.ts";
import type { Evm } from "../../src/evm/machine/evm.ts";
import { precompilesAt } from "../../src/evm/machine/precompiles/index.ts";
import type { Precompile } from "../../src/evm/machine/state-port.ts";
import { createEthereumjsEvm } from "../oracle/ethereumjs/evm.ts";
import { compileAtOnce } from "../support/evm/machine/compile-at-once.ts";
import { eip2537DraftPrecompiles } from "./eip2537-draft.ts";
import { recordedEngine } from "./recorded-engine.ts";

export type EngineOptions = {
  /** Gets the hash of every code that an engine with a compiled tier compiles. */
  readonly compiled?: Set<Hash>;
};

/** The engines vectors can judge, by the name behind `--engine`. */
const ENGINES: Readonly<Record<string, (options: EngineOptions) => Evm | Promise<Evm>>> = {
  evmint: () => createEvm(),
  "evmint-compiled": (options) => createEvm({ tier: compileAtOnce(options) }),
  "evmint-alternating": (options) => createEvm({ tier: compileAtOnce({ ...options, alternates: true }) }),
  "evmint-recorded": () => recordedEngine(createEvm()),
  "evmint-recorded-compiled": (options) => recordedEngine(createEvm({ tier: compileAtOnce(options) })),
  "evmint-eip2537-draft": () => withPrecompiles(createEvm(), eip2537DraftPrecompiles()),
  ethereumjs: () => createEthereumjsEvm({ precompilesOf: pointEvaluationAt }),
  "ethereumjs-own-precompiles": () => createEthereumjsEvm({ precompilesOf: precompilesAt }),
  "ethereumjs-eip2537-draft": () => createEthereumjsEvm({ precompilesOf: eip2537DraftPrecompiles }),
};

const POINT_EVALUATION = `0x${"0a".padStart(40, "0")}` as Address;

/** The one precompile the library has not by itself; all others stay its own, as a second opinion on ours. */
function pointEvaluationAt(hardfork: Hardfork): ReadonlyMap<Address, Precompile> {
  const precompile = precompilesAt(hardfork).get(POINT_EVALUATION);
  return new Map(precompile ? [[POINT_EVALUATION, precompile]] : []);
}

/** The fork's own precompiles are warm by themselves, replaced ones are not. */
function withPrecompiles(evm: Evm, precompiles: ReadonlyMap<Address, Precompile>): Evm {
  return {
    execute: (message, block, state, options) => {
      const warmAddresses = [...message.warmAddresses, ...precompiles.keys()];
      return evm.execute({ ...message, warmAddresses }, block, state, { ...options, precompiles });
    },
  };
}

/** @throws when there is no such engine */
export async function createEngine(name = "evmint", options: EngineOptions = {}): Promise<Evm> {
  const create = ENGINES[name];
  if (!create) throw new Error(`no engine "${name}"; engines: ${Object.keys(ENGINES).join(", ")}`);
  return create(options);
}

/** As `createEngine`, with an engine for each fork: another fork would make one begin anew. */
export async function createEngines(name: string, options?: EngineOptions): Promise<Evm> {
  const engines = new Map<Hardfork, Evm>();
  for (const hardfork of HARDFORKS) engines.set(hardfork, await createEngine(name, options));
  return {
    execute: (message, block, ...rest) => engines.get(block.hardfork)!.execute(message, block, ...rest),
  };
}
