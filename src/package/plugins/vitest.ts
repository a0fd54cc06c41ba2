import { fileURLToPath } from "node:url";
import type { CreateNodeOptions, EvmintNode } from "../../index.ts";
import { chainOfFile, OPTIONS_VARIABLE } from "./file-chain.ts";

export type EvmintVitestOptions = Pick<CreateNodeOptions, "fork" | "settings"> & {
  /** Each test begins with the chain as `beforeAll` left it. */
  readonly restores?: boolean;
};

/** The parts of a vite plugin in use. */
export type EvmintVitestPlugin = {
  name: string;
  config(config: { test?: { setupFiles?: string | string[] } }): {
    test: { setupFiles: string[]; env: Record<string, string> };
  };
};

/**
 * For `plugins` of a vitest configuration: gives every test file a separate chain in its worker, before its first line runs.
 * @param options of the node, and whether to restore the chain between tests
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

/** The chain of the running test file: `chain.provider`, `chain.rpc`, `chain.snapshot()`. */
export const chain: EvmintNode = new Proxy({} as EvmintNode, {
  get: (_target, name) => Reflect.get(chainOfFile(), name),
  has: (_target, name) => Reflect.has(chainOfFile(), name),
});
