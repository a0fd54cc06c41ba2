import { createRequire } from "node:module";
import { Script } from "node:vm";
import type { CreateNodeOptions, EvmintNode } from "../../index.ts";
import { type Bundle, loadBundle } from "./load-bundle.ts";

// A test runner such as jest runs modules in another context, whose `Object` and `Error` differ from those of scripts. There the runner loads
// the bundle, and answers are values of its context.
const isMainContext = new Script("Object").runInThisContext() === Object;

const { exports, saveCodeCache }: Bundle = isMainContext
  ? loadBundle("library")
  : { exports: createRequire(import.meta.url)("./evmint.cjs"), saveCodeCache() {} };

/** The exports of `import "evmint"` and `require("evmint")`: `src/index.ts` from the bundle. */
export const { ProviderRpcError } = exports;

/** `createNode` of `src/index.ts`. A build contains the code cache for one version of Node.js: on another, the first node that stops stores one. */
export async function createNode(options?: CreateNodeOptions): Promise<EvmintNode> {
  const node = await exports.createNode(options);
  const stop = async () => {
    await node.stop();
    saveCodeCache();
  };
  return { ...node, stop, [Symbol.asyncDispose]: stop };
}
