import { createEthereumjsEvm } from "../../src/evm/ethereumjs/evm.ts";
import type { Evm } from "../../src/evm/evm.ts";
import { precompilesAt } from "../../src/evm/precompiles/index.ts";
import { eip2537DraftPrecompiles } from "./eip2537-draft.ts";

/** The engines vectors can judge, by the name behind `--engine`. */
const ENGINES: Readonly<Record<string, () => Evm | Promise<Evm>>> = {
  ethereumjs: () => createEthereumjsEvm(),
  "ethereumjs-own-precompiles": () => createEthereumjsEvm({ precompilesOf: precompilesAt }),
  "ethereumjs-eip2537-draft": () => createEthereumjsEvm({ precompilesOf: eip2537DraftPrecompiles }),
};

/** @throws when there is no such engine */
export async function createEngine(name = "ethereumjs"): Promise<Evm> {
  const create = ENGINES[name];
  if (!create) throw new Error(`no engine "${name}"; engines: ${Object.keys(ENGINES).join(", ")}`);
  return create();
}
