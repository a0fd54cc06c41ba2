import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { dataPath, isInMemory } from "../config/home.ts";
import { createJwtSecret, readJwtSecret } from "../config/secrets.ts";
import { UnlockForbiddenError } from "../keystore/errors.ts";
import type { Checkpoint } from "../les/checkpoints/checkpoint.ts";
import { hexToBytes } from "../primitives/hex.ts";
import { createAuthenticator } from "../rpc/auth/authenticator.ts";
import { type ForkedBlocks, forkedMethods } from "../rpc/dev/forked-methods.ts";
import { namespaceOf } from "../rpc/dispatch/method.ts";
import { createClientAdmission } from "../rpc/les/client-admission.ts";
import { createMethodRegistry } from "../rpc/methods.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import type { Readiness } from "../rpc/ports/node.ts";
import { type RpcServer, startRpcServer } from "../rpc/server/server.ts";
import { DappDb } from "../storage/dapp-db.ts";
import { openDurableLmdbKv } from "../storage/lmdb-kv.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import { createCallerFiles } from "./adapters/caller-files.ts";
import { createCheckpointService } from "./adapters/checkpoint-service.ts";
import { voteForCheckpoint } from "./adapters/checkpoint-signer.ts";
import { createExecutionThreads } from "./adapters/execution-workers.ts";
import { createLightClientService } from "./adapters/light-client-service.ts";
import { createMinerSettings } from "./adapters/miner-settings.ts";
import { createNodeAdmin } from "./adapters/node-admin.ts";
import { createRpcObserver } from "./adapters/rpc-observer.ts";
import { startRpcProcesses } from "./adapters/rpc-processes.ts";
import { createRuntimePort } from "./adapters/runtime/runtime-port.ts";
import { reportSessions } from "./adapters/sessions.ts";
import { startWhisperService } from "./adapters/whisper-service.ts";
import type { ChainCore } from "./compose/compose-chain.ts";
import { composeKeys } from "./compose/compose-keys.ts";
import type { Fork } from "./compose/open-fork.ts";
import { createRpcPorts } from "./compose/rpc-modules.ts";
import { createOtherRequests } from "./observe/other-requests.ts";
import { InProcessProvider } from "./provider.ts";
import {
  allowedOriginsOf,
  describeListeners,
  endpointsOf,
  exposedUrl,
  namespacesOf,
  readTls,
} from "./rpc-endpoints.ts";
import type { Listener } from "./types.ts";
import type { RpcProcesses } from "./workers/rpc/rpc-processes.ts";

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
): Promise<OpenListeners> {
  const { jsonRpc, ipc, rpcLimits, access } = config;
  const methods = createMethodRegistry(config);
  const registry = core.fork ? forkedMethods(methods, forkedBlocksOf(core.fork)) : methods;
  const known = [...new Set([...registry.keys()].map(namespaceOf))];
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
  const admin = createNodeAdmin(config, {
    core,
    log,
    files,
    server: () => server,
    endpoints,
    known,
    isRunning: () => isListening,
    whisper: () => whisper,
    hasUnlockedAccounts: () => config.dev || keys.unlockedAccounts().length > 0,
  });
  const lesLog = log.child("les");
  let provider: InProcessProvider | undefined;
  const lightClients = createLightClientService(config, { failures, metrics });
  const { serving } = lightClients;
  const checkpoints = createCheckpointService(
    config,
    {
      ...{ core, log: lesLog, failures, metrics },
      onCheckpoint: failures.guard(
        "checkpoint vote",
        (checkpoint: Checkpoint) =>
          provider && voteForCheckpoint(config, checkpoint, { core, keys, provider, log: lesLog }),
      ),
    },
    namespacesOf(jsonRpc.api, known).includes("les"),
  );
  const whisper = await startWhisperService(
    config,
    { log: log.child("shh"), failures, metrics, networkHosts: () => networkHostsOf(core) },
    namespacesOf(jsonRpc.api, known).includes("shh"),
  );
  const dappDb = openDappDb(config, metrics);
  let processes: RpcProcesses | undefined;
  const jwtSecret = isInMemory(config) ? randomBytes(32) : jwtSecretOf(config);
  const authentication = createAuthenticator({
    secret: jwtSecret,
    badTokensMax: access.badTokensMax,
    pauseMsMax: access.badTokenPauseMsMax,
    onBadToken: (source) => processes?.countBadToken(source),
  });
  const tls = readTls(config);
  const rpcLog = log.child("rpc");
  // Other threads follow the store, which has only a part of a forked chain's state.
  const threads = core.fork ? undefined : createExecutionThreads(config, rpcLog, core, metrics);
  const modules = createRpcPorts(config, rpcLog, core, {
    ...{ keys, admin, dappDb, runtime, files, threads },
    shh: whisper.port,
    les: { ...checkpoints, ...lightClients.control },
    methods: [...registry.values()],
    miner: createMinerSettings(config, core, log.child("miner")),
    isListening: () => isListening,
    readiness,
  });
  processes = startRpcProcesses(
    config,
    { jwtSecret, tls },
    {
      ...{ core, registry, metrics, ports: modules, serving, log: rpcLog },
      onBadToken: authentication.countBadToken,
    },
  );
  if (ipc.enable) mkdirSync(config.home, { recursive: true, mode: 0o700 });
  const { filters, feeds } = modules.sessions;
  metrics.gaugeOf({ name: "rpc_filters", help: "Installed filters." }, () => filters.size);
  reportSessions(metrics, modules.sessions);
  const closeModules = async () => {
    feeds.close();
    filters.close();
    keys.close();
    dappDb.close();
    checkpoints.close();
    lightClients.close();
    await whisper.close();
    // They read the store, which is closed next.
    await Promise.all([threads?.close(), processes?.close()]);
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
      modules,
      observer: createRpcObserver(rpcLog, metrics),
      ...(serving && { admission: createClientAdmission({ serving, nowMs }) }),
      authenticate: authentication.authenticate,
      connectionWorkers: processes,
      otherRequest: createOtherRequests(config, rpcLog, readiness),
    },
  ).catch(async (error) => {
    await closeModules();
    await runtime.close();
    throw error;
  });
  isListening = true;
  const inProcess = new InProcessProvider(registry, modules);
  provider = inProcess;
  return {
    provider: inProcess,
    processes,
    execution: modules.execution,
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

function forkedBlocksOf({ base, call }: Fork): ForkedBlocks {
  const { header, hash } = base.block;
  return { number: header.number, hash, call };
}

/** Created at the first start of a dev chain, and again after it was deleted to revoke all tokens. */
function jwtSecretOf({ home }: Config): Uint8Array {
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
