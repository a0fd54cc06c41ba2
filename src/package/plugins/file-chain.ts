import type { EvmintNode } from "../../index.ts";

/** Passes the configuration's options to the workers. It is not named like a setting: programs that tests start read those. */
export const OPTIONS_VARIABLE = "VITEST_EVMINT";

/** vitest loads the setup file and the module that tests import separately. */
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
