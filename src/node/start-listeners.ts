import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/dangers.ts";
import { InvalidConfigError } from "../config/errors.ts";
import { dataPath } from "../config/home.ts";
import { createJwtSecret, readJwtSecret } from "../config/secrets.ts";
import { UnlockForbiddenError } from "../keystore/errors.ts";
import { createAuthenticator } from "../rpc/auth/authenticator.ts";
import type { TlsMaterial } from "../rpc/http.ts";
import { namespaceOf } from "../rpc/method.ts";
import { createMethodRegistry } from "../rpc/methods.ts";
import {
  type EndpointOptions,
  type RpcServer,
  startRpcServer,
  type TcpKind,
} from "../rpc/server.ts";
import { DappDb } from "../storage/dapp-db.ts";
import { openDurableLmdbKv } from "../storage/lmdb-kv.ts";
import type { Logger } from "../telemetry/logger.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { createCallerFiles } from "./caller-files.ts";
import type { ChainCore } from "./compose-chain.ts";
import { composeKeys } from "./compose-keys.ts";
import { createMinerSettings } from "./miner-settings.ts";
import { createNodeAdmin } from "./node-admin.ts";
import { createRpcModules } from "./rpc-modules.ts";
import { createRpcObserver } from "./rpc-observer.ts";
import type { Listener } from "./types.ts";

export type OpenListeners = {
  readonly listeners: readonly Listener[];
  close(): Promise<void>;
};

/** Opens every listener the configuration asks for, all or none. */
export async function startListeners(
  config: Config,
  log: Logger,
  core: ChainCore,
): Promise<OpenListeners> {
  const { jsonRpc, ipc, rpcLimits, access } = config;
  const registry = createMethodRegistry();
  const known = [...new Set([...registry.keys()].map(namespaceOf))];
  const endpoints = endpointsOf(config, known);
  let server: RpcServer | undefined;
  let isListening = false;
  const metrics = createMetrics();
  const keys = composeKeys(config, log.child("keystore"), {
    metrics,
    assertUnlockAllowed() {
      const exposed = Object.values(server?.urls ?? {}).find(isExposed);
      if (exposed !== undefined && !jsonRpc.allowInsecureUnlock) {
        throw new UnlockForbiddenError(exposed);
      }
    },
  });
  const dappDb = openDappDb(config);
  const admin = createNodeAdmin(config, {
    core,
    files: createCallerFiles(config),
    server: () => server,
    configured: (kind) => endpoints[kind],
    isRunning: () => isListening,
    hasUnlockedAccounts: () => config.dev || keys.unlockedAccounts().length > 0,
  });
  const miner = createMinerSettings(config, core, log.child("miner"));
  // Made at the first start of a dev chain, and again where somebody deleted it to end all tokens.
  createJwtSecret(config.home);
  const authenticate = createAuthenticator({
    secret: readJwtSecret(config.home),
    badTokensMax: access.badTokensMax,
    pauseMsMax: access.badTokenPauseMsMax,
  });
  const tls = readTls(config);
  server = await startRpcServer(
    {
      ...(jsonRpc.enable && endpoints),
      ...(ipc.enable && { ipc: { path: join(config.home, ipc.path) } }),
      allowedHosts: jsonRpc.vhosts,
      allowedOrigins: jsonRpc.corsOrigins,
      limits: rpcLimits,
      ...(tls && { tls }),
    },
    {
      registry,
      modules: createRpcModules(
        config,
        core,
        { isListening: () => isListening },
        { keys, admin, miner, dappDb },
      ),
      observer: createRpcObserver(log.child("rpc"), metrics),
      authenticate,
    },
  );
  isListening = true;
  return {
    listeners: describe(server, config, known),
    async close() {
      isListening = false;
      await server?.close();
      keys.close();
      dappDb.close();
    },
  };
}

/** Where HTTP and WebSocket listen as configured; `admin_startRPC` falls back to the same. */
function endpointsOf(
  { jsonRpc, access, dev }: Config,
  known: readonly string[],
): Readonly<Record<TcpKind, EndpointOptions>> {
  const namespaces = jsonRpc.api.includes("all") ? known : jsonRpc.api;
  return {
    http: {
      ...jsonRpc.address,
      namespaces,
      isOpen: dev,
      methods: { allow: access.allowMethods, deny: access.denyMethods },
    },
    ws: {
      ...jsonRpc.wsAddress,
      namespaces,
      isOpen: dev,
      methods: { allow: access.wsAllowMethods, deny: access.wsDenyMethods },
    },
  };
}

/** True for the URL of a listener that other machines can reach; a socket file is none. */
function isExposed(url: string): boolean {
  if (!url.includes("://")) return false;
  return !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, ""));
}

/** @throws InvalidConfigError when only one of the two files is named, or one cannot be read */
function readTls({ tls, home }: Config): TlsMaterial | undefined {
  if (tls.cert === "" && tls.key === "") return undefined;
  const read = (key: string, file: string): string => {
    try {
      return readFileSync(resolve(home, file), "utf8");
    } catch (cause) {
      throw new InvalidConfigError(`${key}: cannot read ${file || "it"}`, { key }, { cause });
    }
  };
  return { cert: read("tls.cert", tls.cert), key: read("tls.key", tls.key) };
}

function openDappDb({ home, dappDb }: Config): DappDb {
  const directory = join(dataPath(home), "dapp-db");
  return new DappDb(dappDb, {
    exists: () => existsSync(join(directory, "data.mdb")),
    open: () => openDurableLmdbKv(directory),
  });
}

function describe({ urls }: RpcServer, { jsonRpc, dev }: Config, known: readonly string[]) {
  const namespaces = jsonRpc.api.includes("all") ? known : jsonRpc.api;
  const listeners: Listener[] = [];
  for (const kind of ["http", "ws", "ipc"] as const) {
    const url = urls[kind];
    if (url === undefined) continue;
    const isIpc = kind === "ipc";
    listeners.push({
      kind,
      url,
      namespaces: isIpc ? known : namespaces,
      needsToken: !isIpc && !dev,
    });
  }
  return listeners;
}
