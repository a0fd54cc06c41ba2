import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { createJwtSecret, readJwtSecret } from "../config/jwt-secret.ts";
import { nearest } from "../config/nearest.ts";
import { NodeError } from "../errors.ts";
import { createAuthenticator } from "../rpc/auth/authenticator.ts";
import { namespaceOf } from "../rpc/method.ts";
import { createMethodRegistry } from "../rpc/methods.ts";
import { startRpcServer } from "../rpc/server.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { ChainCore } from "./compose-chain.ts";
import { createRpcModules } from "./rpc-modules.ts";
import { createRpcObserver } from "./rpc-observer.ts";
import type { Listener } from "./types.ts";

/** How long calls that run may go on when the node stops: a node is gone within five seconds. */
const STOP_GRACE_MS = 2_000;

export type OpenListeners = {
  readonly listeners: readonly Listener[];
  close(): Promise<void>;
};

/** `json-rpc.api` names a namespace that this node has not. */
export class UnknownNamespaceError extends NodeError {
  readonly code = "CONFIG_UNKNOWN_NAMESPACE";
  constructor(name: string, known: ReadonlySet<string>) {
    const closest = nearest(name, [...known]);
    super(`json-rpc.api: no namespace "${name}"${closest ? `, did you mean "${closest}"?` : ""}`, {
      name,
      known: [...known],
    });
  }
}

/** Opens every listener the configuration asks for, all or none. */
export async function startListeners(
  config: Config,
  log: Logger,
  core: ChainCore,
  metrics: Metrics,
): Promise<OpenListeners> {
  const { jsonRpc, ipc, rpcLimits, access } = config;
  const registry = createMethodRegistry();
  const known = new Set([...registry.keys()].map(namespaceOf));
  const namespaces = jsonRpc.api.includes("all") ? [...known] : jsonRpc.api;
  for (const name of namespaces) if (!known.has(name)) throw new UnknownNamespaceError(name, known);
  let isListening = false;
  // Made at the first start of a dev chain, and again where somebody deleted it to end all tokens.
  createJwtSecret(config.home);
  const authenticate = createAuthenticator({
    secret: readJwtSecret(config.home),
    badTokensMax: access.badTokensMax,
    pauseMsMax: access.badTokenPauseMsMax,
  });
  const endpoint = { namespaces, isOpen: config.dev };
  const rpcLog = log.child("rpc");
  const modules = createRpcModules(config, rpcLog, core, { isListening: () => isListening });
  metrics.gaugeOf({ name: "rpc_filters", help: "Installed filters." }, () => modules.filters.size);
  metrics.gaugeOf(
    { name: "rpc_subscriptions", help: "Subscriptions of all connections." },
    () => modules.subscriptions.size,
  );
  const server = await startRpcServer(
    {
      ...(jsonRpc.enable && {
        http: {
          ...jsonRpc.address,
          ...endpoint,
          methods: { allow: access.allowMethods, deny: access.denyMethods },
        },
        ws: {
          ...jsonRpc.wsAddress,
          ...endpoint,
          methods: { allow: access.wsAllowMethods, deny: access.wsDenyMethods },
        },
      }),
      ...(ipc.enable && { ipc: { path: join(config.home, ipc.path) } }),
      allowedHosts: jsonRpc.vhosts,
      allowedOrigins: jsonRpc.corsOrigins,
      limits: rpcLimits,
    },
    {
      registry,
      modules,
      observer: createRpcObserver(rpcLog, metrics),
      authenticate,
    },
  );
  isListening = true;
  const listeners: Listener[] = [];
  for (const kind of ["http", "ws", "ipc"] as const) {
    const url = server.urls[kind];
    if (url === undefined) continue;
    const isIpc = kind === "ipc";
    listeners.push({
      kind,
      url,
      namespaces: isIpc ? [...known] : namespaces,
      needsToken: !isIpc && !config.dev,
    });
  }
  return {
    listeners,
    async close() {
      isListening = false;
      await server.close(STOP_GRACE_MS);
      modules.feeds.close();
      modules.filters.close();
    },
  };
}
