/** What the bundle `dist/bundle/evmint.cjs` gives to the files that load it, and to the kill tests of the built node. */
export { main } from "../cli/main.ts";
export { loadConfig } from "../config/load.ts";
export { createNode, ProviderRpcError } from "../index.ts";
export { startNode } from "../node/start-node.ts";
export { SILENT_LOGGER } from "../telemetry/logger.ts";
export { runWorkerEntry } from "./entries.ts";
