import { NodeError } from "../../base/errors.ts";
import { nearest } from "../../base/primitives/nearest.ts";
import type { EndpointOptions, TcpKind } from "../../rpc/transport/server/listener.ts";
import type { RpcServer } from "../../rpc/transport/server/server.ts";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/dangers.ts";
import { DEFAULTS } from "../config/defaults.ts";

/** An open listener. */
export type Listener = {
  readonly kind: "http" | "ws" | "ipc" | "metrics";
  /** As bound: the real port if the configuration has port 0. A path for IPC. */
  readonly url: string;
  /** Namespaces that can be called on it. */
  readonly namespaces: readonly string[];
  /** Whether private methods need a bearer token. */
  readonly needsToken: boolean;
};

/**
 * Origins whose pages may call. A dev chain always admits pages on this machine: adding an origin for a tool such as Remix must not lock out the
 * front end under development. An empty list locks out every page.
 */
export function allowedOriginsOf({ jsonRpc, dev }: Config): readonly string[] {
  return dev && jsonRpc.corsOrigins.length > 0
    ? [...new Set([...DEFAULTS.corsOriginsDev, ...jsonRpc.corsOrigins])]
    : jsonRpc.corsOrigins;
}

/** `json-rpc.api` names a namespace that does not exist. */
export class UnknownNamespaceError extends NodeError {
  readonly code = "CONFIG_UNKNOWN_NAMESPACE";
  constructor(name: string, known: readonly string[]) {
    const closest = nearest(name, known);
    const guess = closest ? `, did you mean "${closest}"?` : "";
    super(`json-rpc.api: unknown namespace "${name}"${guess}; known: ${known.join(", ")}, or all`, { name, known });
  }
}

/**
 * Configured addresses of HTTP and WebSocket, and their access rules; `admin_startRPC` uses the same defaults.
 * @param known all namespaces
 * @throws UnknownNamespaceError
 */
export function endpointsOf(
  { jsonRpc, access, dev }: Config,
  known: readonly string[],
): Readonly<Record<TcpKind, EndpointOptions>> {
  const shared = {
    namespaces: namespacesOf(jsonRpc.api, known),
    isOpen: dev && !access.requireToken,
    isClosed: access.requireToken,
    methods: { allow: access.allowMethods, deny: access.denyMethods },
  };
  return { http: { ...jsonRpc.address, ...shared }, ws: { ...jsonRpc.wsAddress, ...shared } };
}

/** @throws UnknownNamespaceError */
export function namespacesOf(api: readonly string[], known: readonly string[]): readonly string[] {
  if (api.includes("all")) return known;
  for (const name of api) if (!known.includes(name)) throw new UnknownNamespaceError(name, known);
  return api;
}

/** The open listeners, as the banner shows them. */
export function describeListeners(
  { urls }: RpcServer,
  { jsonRpc, access, dev }: Config,
  known: readonly string[],
): Listener[] {
  const namespaces = namespacesOf(jsonRpc.api, known);
  return (["http", "ws", "ipc"] as const).flatMap((kind) => {
    const url = urls[kind];
    if (url === undefined) return [];
    const isIpc = kind === "ipc";
    return [{ kind, url, namespaces: isIpc ? known : namespaces, needsToken: !isIpc && (!dev || access.requireToken) }];
  });
}

/** URL of a listener that other machines can reach, if there is one; socket files do not count. */
export function exposedUrl(urls: RpcServer["urls"]): string | undefined {
  return Object.values(urls)
    .filter((url) => url.includes("://"))
    .find((url) => !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, "")));
}
