import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { createJwtSecret, readJwtSecret } from "../config/jwt-secret.ts";
import { createAuthenticator } from "../rpc/auth/authenticator.ts";
import { namespaceOf } from "../rpc/method.ts";
import { createMethodRegistry } from "../rpc/methods.ts";
import { startRpcServer } from "../rpc/server.ts";
import type { Logger } from "../telemetry/logger.ts";
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

/** Opens every listener the configuration asks for, all or none. */
export async function startListeners(
  config: Config,
  log: Logger,
  core: ChainCore,
): Promise<OpenListeners> {
  const { jsonRpc, ipc, rpcLimits, access } = config;
  const registry = createMethodRegistry();
  const known = new Set([...registry.keys()].map(namespaceOf));
  const namespaces = jsonRpc.api.includes("all") ? [...known] : jsonRpc.api;
  let isListening = false;
  // Made at the first start of a dev chain, and again where somebody deleted it to end all tokens.
  createJwtSecret(config.home);
  const authenticate = createAuthenticator({
    secret: readJwtSecret(config.home),
    badTokensMax: access.badTokensMax,
    pauseMsMax: access.badTokenPauseMsMax,
  });
  const endpoint = { namespaces, isOpen: config.dev };
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
      fastHttp: jsonRpc.fastHttp,
    },
    {
      registry,
      modules: createRpcModules(config, core, { isListening: () => isListening }),
      observer: createRpcObserver(log.child("rpc")),
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
    close() {
      isListening = false;
      return server.close(STOP_GRACE_MS);
    },
  };
}
