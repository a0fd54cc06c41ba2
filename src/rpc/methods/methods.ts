import { createRegistry, type Method } from "../transport/dispatch/method.ts";
import { ADMIN_METHODS } from "./admin/methods.ts";
import { TESTING_METHODS } from "./block-testing/methods.ts";
import { CLIQUE_METHODS } from "./clique/methods.ts";
import { DB_METHODS } from "./db/methods.ts";
import { DEBUG_METHODS } from "./debug/methods.ts";
import { withAnvilErrors } from "./dev/anvil-errors.ts";
import { DEV_METHODS } from "./dev/methods.ts";
import { ERIGON_METHODS } from "./erigon/methods.ts";
import { ETH_METHODS } from "./eth/methods.ts";
import { LES_METHODS } from "./les/methods.ts";
import { MINER_METHODS } from "./miner/methods.ts";
import { NET_METHODS } from "./net/methods.ts";
import { OTS_METHODS } from "./ots/methods.ts";
import { PERSONAL_METHODS } from "./personal/methods.ts";
import { RPC_METHODS } from "./rpc/methods.ts";
import { forwarded, type ServingPorts } from "./rpc-ports.ts";
import { SHH_METHODS } from "./shh/methods.ts";
import { TRACE_METHODS } from "./trace/methods.ts";
import { TXPOOL_METHODS } from "./txpool/methods.ts";
import { WEB3_METHODS } from "./web3/methods.ts";

/** Every method of a chain that is not a dev chain; the access policy of a listener says which of them it serves. */
export const METHODS: readonly Method<ServingPorts>[] = [
  ...WEB3_METHODS,
  ...NET_METHODS,
  ...RPC_METHODS,
  ...ETH_METHODS,
  ...DEBUG_METHODS,
  ...TRACE_METHODS,
  ...OTS_METHODS,
  ...ERIGON_METHODS,
  ...TESTING_METHODS.map(forwarded),
  ...TXPOOL_METHODS,
  ...PERSONAL_METHODS.map(forwarded),
  ...MINER_METHODS.map(forwarded),
  ...ADMIN_METHODS.map(forwarded),
  ...CLIQUE_METHODS.map(forwarded),
  ...DB_METHODS.map(forwarded),
  ...LES_METHODS.map(forwarded),
  ...SHH_METHODS.map(forwarded),
];

export function createMethodRegistry(config: {
  readonly dev: boolean;
  readonly devChain?: { readonly dialect: string };
}) {
  if (!config.dev) return createRegistry(METHODS);
  const methods = [...METHODS, ...DEV_METHODS];
  return createRegistry(config.devChain?.dialect === "anvil" ? methods.map(withAnvilErrors) : methods);
}
