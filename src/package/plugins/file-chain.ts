import type { EvmintNode } from "../../index.ts";

/** Carries the options of the configuration to the workers. Its name is not that of a setting: programs that tests start read those. */
export const OPTIONS_VARIABLE = "VITEST_EVMINT";

/** The setup file and what tests import are two modules, and vitest loads them apart. */
const KEY = Symbol.for("evmint.vitest.chain");
const holder = globalThis as { [KEY]?: EvmintNode | undefined };

export function setChainOfFile(chain: EvmintNode | undefined): void {
  holder[KEY] = chain;
}

/** @throws Error outside of a test file */
export function chainOfFile(): EvmintNode {
  const chain = holder[KEY];
  if (chain === undefined)
    throw new Error('no chain: "evmint/vitest" has to be in plugins of the vitest configuration');
  return chain;
}
