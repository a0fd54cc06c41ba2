import { createEthereumjsEvm } from "../../src/evm/ethereumjs/evm.ts";
import { createEvm } from "../../src/evm/engine.ts";
import type { Evm } from "../../src/evm/evm.ts";

/** The engines vectors can judge, by the name behind `--engine`. */
const ENGINES: Readonly<Record<string, () => Evm | Promise<Evm>>> = {
  ethereumjs: () => createEthereumjsEvm(),
  evmint: () => createEvm(),
};

/** @throws when there is no such engine */
export async function createEngine(name = "ethereumjs"): Promise<Evm> {
  const create = ENGINES[name];
  if (!create) throw new Error(`no engine "${name}"; engines: ${Object.keys(ENGINES).join(", ")}`);
  return create();
}
