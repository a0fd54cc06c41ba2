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
  /** As bound: a port 0 of the configuration is the real port here. A path for IPC. */
  readonly url: string;
  /** Namespaces that can be called there. */
  readonly namespaces: readonly string[];
  /** Private methods need a bearer token here. */
  readonly needsToken: boolean;
};

/**
 * Origins whose pages may call. On a dev chain pages on this machine always may: an origin that is added for a tool such as
 * Remix must not lock out the front end under development. An empty list locks out every page.
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
 * Where HTTP and WebSocket listen as configured, and for whom; `admin_startRPC` falls back to the same.
 * @param known every namespace there is
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

/** URL of a listener that other machines can reach, if there is one; a socket file is not one. */
export function exposedUrl(urls: RpcServer["urls"]): string | undefined {
  return Object.values(urls)
    .filter((url) => url.includes("://"))
    .find((url) => !isLoopback(new URL(url).hostname.replace(/^\[|\]$/g, "")));
}
