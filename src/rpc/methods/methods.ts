import { createRegistry, type Method } from "../transport/dispatch/method.ts";
import { ADMIN_METHODS } from "./admin/methods.ts";
import * as testing from "./block-testing/methods.ts";
import * as clique from "./clique/methods.ts";
import * as db from "./db/methods.ts";
import { DEBUG_METHODS } from "./debug/methods.ts";
import { exportedMethods } from "./define-method.ts";
import { withAnvilErrors } from "./dev/anvil-errors.ts";
import { DEV_METHODS } from "./dev/methods.ts";
import { ERIGON_METHODS } from "./erigon/methods.ts";
import { ETH_METHODS } from "./eth/methods.ts";
import { LES_METHODS } from "./les/methods.ts";
import * as miner from "./miner/methods.ts";
import * as net from "./net/methods.ts";
import { OTS_METHODS } from "./ots/methods.ts";
import { PERSONAL_METHODS } from "./personal/methods.ts";
import * as rpc from "./rpc/methods.ts";
import { forwarded, type ServingPorts } from "./rpc-ports.ts";
import * as shh from "./shh/methods.ts";
import { TRACE_METHODS } from "./trace/methods.ts";
import * as txpool from "./txpool/methods.ts";
import * as web3 from "./web3/methods.ts";

/** The chain's process has what these methods are about. */
const OF_CHAIN_PROCESS = [
  ...exportedMethods(testing, miner, clique, db, shh),
  ...PERSONAL_METHODS,
  ...ADMIN_METHODS,
  ...LES_METHODS,
];

/** Every method of a chain that is not a dev chain; the access policy of a listener says which of them it serves. */
export const METHODS: readonly Method<ServingPorts>[] = [
  ...exportedMethods(web3, net, rpc, txpool),
  ...ETH_METHODS,
  ...DEBUG_METHODS,
  ...TRACE_METHODS,
  ...OTS_METHODS,
  ...ERIGON_METHODS,
  ...OF_CHAIN_PROCESS.map(forwarded),
];

export function createMethodRegistry(config: {
  readonly dev: boolean;
  readonly devChain?: { readonly dialect: string };
}) {
  if (!config.dev) return createRegistry(METHODS);
  const methods = [...METHODS, ...DEV_METHODS];
  return createRegistry(config.devChain?.dialect === "anvil" ? methods.map(withAnvilErrors) : methods);
}
