import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createCallerFiles } from "../adapters/caller-files.ts";
import { InProcessProvider } from "../adapters/provider.ts";
import type { Listener } from "../adapters/rpc-endpoints.ts";
import {
  allowedOriginsOf,
  describeListeners,
  endpointsOf,
  exposedUrl,
  namespacesOf,
  readTls,
} from "../adapters/rpc-endpoints.ts";
import { createRpcObserver } from "../adapters/rpc-observer.ts";
import { lastingConnectionSessions, reportSessions } from "../adapters/sessions.ts";
import type { Config } from "../config/config.ts";
import { dataPath, isInMemory } from "../config/home.ts";
import { type InstanceId, openInstanceId } from "../config/instance-id.ts";
import { createJwtSecret, createNodeKey, readJwtSecret } from "../config/secrets.ts";
import { invariant } from "../errors.ts";
import { UnlockForbiddenError } from "../keystore/errors.ts";
import { createOtherRequests } from "../observe/other-requests.ts";
import { hexToBytes } from "../primitives/hex.ts";
import type { RpcProcesses } from "../processes/rpc-processes.ts";
import { startRpcProcesses } from "../processes/rpc-processes.ts";
import { createRuntimePort } from "../profiling/runtime-port.ts";
import { createClientAdmission } from "../rpc/methods/les/client-admission.ts";
import { createMethodRegistry } from "../rpc/methods/methods.ts";
import type { Forking } from "../rpc/ports/dev.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import type { Readiness } from "../rpc/ports/node.ts";
import { createAuthenticator } from "../rpc/transport/auth/authenticator.ts";
import { namespaceOf } from "../rpc/transport/dispatch/method.ts";
import { type RpcServer, startRpcServer } from "../rpc/transport/server/server.ts";
import { createLightClientService } from "../services/light-client-service.ts";
import { startWhisperService } from "../services/whisper-service.ts";
import { DappDb } from "../storage/dapp-db.ts";
import { openDurableLmdbKv } from "../storage/lmdb-kv.ts";
import { makeFolder } from "../storage/make-folder.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ChainCore } from "./compose/compose-chain.ts";
import { composeKeys } from "./compose/compose-keys.ts";
import { RpcSwitch } from "./dev/rpc-switch.ts";
import { openChainRpc, type RpcServices } from "./open-chain-rpc.ts";

const nowMs = () => performance.now();
/** Time for running calls when the node stops: a node ends within five seconds. */
const STOP_GRACE_MS = 2_000;

export type OpenListeners = {
  readonly listeners: readonly Listener[];
  /** Every method, for programs in this process. */
  readonly provider: InProcessProvider;
  readonly execution: ExecutionPort;
  /** undefined: this process serves every connection */
  readonly processes: RpcProcesses | undefined;
  /** Runs `work`, which a call of this node asked for, while no other call is under way. */
  whileIdle(work: () => Promise<void>): Promise<void>;
  /**
   * Closes what reads the chain, and serves the one that `open` opens then. For `whileIdle`.
   * @returns the port that executes on the new chain
   */
  replaceChain(open: () => Promise<ChainCore>): Promise<ExecutionPort>;
  close(): Promise<void>;
};

/**
 * Opens every listener the configuration asks for, all or none.
 * @throws UnknownNamespaceError, InvalidConfigError, and what listening throws
 */
export async function startListeners(
  config: Config,
  log: Logger,
  core: ChainCore,
  metrics: Metrics,
  readiness: () => Readiness,
  failures: Failures,
  reset: (forking: Forking | undefined, instance: InstanceId) => Promise<void>,
): Promise<OpenListeners> {
  const { jsonRpc, ipc, rpcLimits, access } = config;
  const known = [...new Set([...createMethodRegistry(config).keys()].map(namespaceOf))];
  const endpoints = endpointsOf(config, known);
  let server: RpcServer | undefined;
  let isListening = false;

  const keys = composeKeys(config, log.child("keystore"), {
    metrics,
    publicKeys: new Map(
      core.devAccounts.map(({ address, privateKey }) => [address, hexToBytes(privateKey)]),
    ),
    assertUnlockAllowed() {
      const exposed = exposedUrl(server?.urls ?? {});
      if (exposed !== undefined && !jsonRpc.allowInsecureUnlock) {
        throw new UnlockForbiddenError(exposed);
      }
    },
  });
  const files = createCallerFiles(config);
  const runtime = createRuntimePort({ log, files });
  let provider: InProcessProvider | undefined;
  const lightClients = createLightClientService(config, { failures, metrics });
  const { serving } = lightClients;
  const whisper = await startWhisperService(
    config,
    // A chain that can be replaced has no network.
    { log: log.child("shh"), failures, metrics, networkHosts: () => networkHostsOf(core) },
    namespacesOf(jsonRpc.api, known).includes("shh"),
  );
  const dappDb = openDappDb(config, metrics);
  let processes: RpcProcesses | undefined;
  const jwtSecret = isInMemory(config) ? randomBytes(32) : secretsOf(config);
  const authentication = createAuthenticator({
    secret: jwtSecret,
    badTokensMax: access.badTokensMax,
    pauseMsMax: access.badTokenPauseMsMax,
    onBadToken: (source) => processes?.countBadToken(source),
  });
  const tls = readTls(config);
  const rpcLog = log.child("rpc");
  const instance = openInstanceId(config);
  const services: RpcServices = {
    ...{ keys, files, runtime, dappDb, lightClients, whisper, endpoints, known, failures, metrics },
    ...{ instance, readiness, reset: ({ forking }) => reset(forking, instance) },
    connectionSessions: lastingConnectionSessions(config, rpcLog),
    server: () => server,
    provider: () => provider,
    isListening: () => isListening,
  };
  let chain = openChainRpc(config, log, core, services);
  const { ports } = chain;
  // Only a dev chain can be replaced, and the way over the switch costs a little.
  const rpcSwitch = config.dev && core.devChain ? new RpcSwitch(chain) : undefined;
  const registry = rpcSwitch?.registry ?? chain.registry;
  processes = startRpcProcesses(
    config,
    { jwtSecret, tls },
    {
      ...{ core, registry, metrics, ports, serving, log: rpcLog },
      onBadToken: authentication.countBadToken,
    },
  );
  if (ipc.enable) makeFolder(config.home);
  reportSessions(metrics, ports.sessions);
  const closeModules = async () => {
    ports.sessions.feeds.close();
    keys.close();
    dappDb.close();
    lightClients.close();
    await whisper.close();
    // They read the store, which is closed next.
    await Promise.all([chain.close(), processes?.close()]);
  };
  server = await startRpcServer(
    {
      ...(jsonRpc.enable && endpoints),
      ...(ipc.enable && { ipc: { path: join(config.home, ipc.path) } }),
      allowedHosts: jsonRpc.vhosts,
      allowedOrigins: allowedOriginsOf(config),
      limits: rpcLimits,
      ...(tls && { tls }),
      fastHttp: jsonRpc.fastHttp,
    },
    {
      registry,
      modules: ports,
      observer: createRpcObserver(rpcLog, metrics),
      ...(serving && { admission: createClientAdmission({ serving, nowMs }) }),
      authenticate: authentication.authenticate,
      connectionWorkers: processes,
      otherRequest: createOtherRequests(config, rpcLog, readiness, ports),
    },
  ).catch(async (error) => {
    await closeModules();
    await runtime.close();
    throw error;
  });
  isListening = true;
  const inProcess = new InProcessProvider(registry, ports);
  provider = inProcess;
  return {
    provider: inProcess,
    processes,
    execution: ports.execution,
    async whileIdle(work) {
      invariant(rpcSwitch !== undefined, "only a dev chain is reset");
      await rpcSwitch.whileIdle(work);
    },
    async replaceChain(open) {
      await chain.close();
      chain = openChainRpc(config, log, await open(), services);
      rpcSwitch!.target = chain;
      instance.renew();
      return chain.ports.execution;
    },
    listeners: describeListeners(server, config, known),
    async close() {
      isListening = false;
      try {
        await server?.close(STOP_GRACE_MS);
        inProcess.close();
        await runtime.close();
      } finally {
        await closeModules();
      }
    },
  };
}

/** Created at the first start of a dev chain, and again after it was deleted to revoke all tokens. The node's key with it: no call of a stranger writes into the home. */
function secretsOf({ home }: Config): Uint8Array {
  createNodeKey(home);
  createJwtSecret(home);
  return readJwtSecret(home);
}

/** Where the chain's peers are; none for an engine without a network. */
function networkHostsOf({ engine }: ChainCore): readonly string[] {
  const addresses = engine.network?.peers().map(({ remoteAddress }) => remoteAddress) ?? [];
  return [...new Set(addresses.map((address) => address.slice(0, address.lastIndexOf(":"))))];
}

function openDappDb({ home, dappDb }: Config, metrics: Metrics): DappDb {
  const directory = join(dataPath(home), "dapp-db");
  const rejected = metrics.counter({
    name: "dapp_db_rejected_puts_total",
    help: "Values of db_putString and db_putHex rejected by a limit.",
  });
  return new DappDb(dappDb, {
    onRefused: () => rejected.add(),
    exists: () => existsSync(join(directory, "data.mdb")),
    open: () => openDurableLmdbKv(directory),
  });
}
