/** `evmint/browser`: the node for pages and workers. See ADR 91. */

export { type ProviderMessage, type ProviderRequest, ProviderRpcError } from "../../node/adapters/provider-types.ts";
export type { DevAccount } from "../../node/keystore/dev-accounts.ts";
export type { DevControl } from "../../node/roles/dev/dev-control.ts";
export type * from "../../rpc/method-types.ts";
export type { BrowserNode } from "./create-node.ts";
export { type BrowserNodeOptions, createNode, removeChain } from "./create-node.ts";
export type { HomeFiles } from "./files/home-files.ts";
export type { BrowserProvider } from "./provider.ts";
export { UnsupportedInBrowserError } from "./unsupported.ts";
