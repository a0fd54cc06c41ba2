import { createRegistry, type Method } from "./method.ts";
import { listening } from "./net/listening.ts";
import { peerCount } from "./net/peer-count.ts";
import { version } from "./net/version.ts";
import type { NodeInfo } from "./node-info.ts";
import { modules } from "./rpc/modules.ts";
import { clientVersion } from "./web3/client-version.ts";
import { sha3 } from "./web3/sha3.ts";

/** Everything the methods below ask for together. */
export type RpcModules = { readonly node: NodeInfo };

const web3: readonly Method<RpcModules>[] = [clientVersion, sha3];
const net: readonly Method<RpcModules>[] = [version, peerCount, listening];
const rpc: readonly Method<RpcModules>[] = [modules];

/** Every method of the node by name; which of them a listener serves is its access policy's matter. */
export const METHODS: readonly Method<RpcModules>[] = [...web3, ...net, ...rpc];

export function createMethodRegistry() {
  return createRegistry(METHODS);
}
