import type { CreateNodeOptions, EvmintNode } from "../index.ts";
import { loadBundle } from "./load-bundle.ts";

const { exports, saveCodeCache } = loadBundle("library");

/** What `import "evmint"` and `require("evmint")` give: `src/index.ts` out of the bundle. */
export const { ProviderRpcError } = exports;

/** `createNode` of `src/index.ts`. A build has the code cache of one version of Node.js: on another the first node that stops stores one. */
export async function createNode(options?: CreateNodeOptions): Promise<EvmintNode> {
  const node = await exports.createNode(options);
  const stop = async () => {
    await node.stop();
    saveCodeCache();
  };
  return { ...node, stop, [Symbol.asyncDispose]: stop };
}
