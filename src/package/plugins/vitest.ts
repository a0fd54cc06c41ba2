import { fileURLToPath } from "node:url";
import type { CreateNodeOptions, EvmintNode } from "../../index.ts";
import { chainOfFile, OPTIONS_VARIABLE } from "./file-chain.ts";

export type EvmintVitestOptions = Pick<CreateNodeOptions, "fork" | "settings"> & {
  /** Each test begins with the chain as `beforeAll` left it. */
  readonly restores?: boolean;
};

/** A plugin of vite, as far as it is used. */
export type EvmintVitestPlugin = {
  name: string;
  config(config: { test?: { setupFiles?: string | string[] } }): {
    test: { setupFiles: string[]; env: Record<string, string> };
  };
};

/**
 * For `plugins` of a vitest configuration: every test file has a chain of its own in its worker, before its first line runs.
 * @param options of the node, and whether tests are apart from each other
 */
export default function evmint(options: EvmintVitestOptions = {}): EvmintVitestPlugin {
  return {
    name: "evmint",
    // vite appends these plugins to the file's.
    config: () => ({
      test: {
        setupFiles: [fileURLToPath(new URL("./vitest-setup.js", import.meta.url))],
        env: { [OPTIONS_VARIABLE]: JSON.stringify(options) },
      },
    }),
  };
}

/** The chain of the test file that runs: `chain.provider`, `chain.rpc`, `chain.snapshot()`. */
export const chain: EvmintNode = new Proxy({} as EvmintNode, {
  get: (_target, name) => Reflect.get(chainOfFile(), name),
  has: (_target, name) => Reflect.has(chainOfFile(), name),
});
