import { createEthereumjsEvm } from "../../src/evm/ethereumjs/evm.ts";
import type { Evm } from "../../src/evm/evm.ts";
import { precompilesAt } from "../../src/evm/precompiles/index.ts";

/** The engines vectors can judge, by the name behind `--engine`. */
const ENGINES: Readonly<Record<string, () => Evm | Promise<Evm>>> = {
  ethereumjs: () => createEthereumjsEvm(),
  "ethereumjs-own-precompiles": () => createEthereumjsEvm({ precompilesOf: precompilesAt }),
};

/** @throws when there is no such engine */
export async function createEngine(name = "ethereumjs"): Promise<Evm> {
  const create = ENGINES[name];
  if (!create) throw new Error(`no engine "${name}"; engines: ${Object.keys(ENGINES).join(", ")}`);
  return create();
}
