/** Exports of the bundle `dist/bundle/evmint.cjs` for the files that load it, and for the kill tests of the built node. */

export { SILENT_LOGGER } from "../../base/telemetry/logger.ts";
export { main } from "../../cli/main.ts";
export { createNode, ProviderRpcError } from "../../index.ts";
export { loadConfig } from "../../node/config/load.ts";
export { startNode } from "../../node/roles/start-node.ts";
export { runWorkerEntry } from "./entries.ts";
