import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { TLSSocket } from "node:tls";
import type { Authenticate, Authentication } from "../auth/authenticator.ts";
import type { CallSource } from "../dispatch/context.ts";
import { ACCESS_HINT } from "../errors.ts";
import type { TcpListenerOptions } from "./listener.ts";
import { isForeignLoad, isHostAllowed, isOriginAllowed } from "./origin.ts";
import type { Rejection } from "./rejection.ts";

const BAD_HOST: Rejection = {
  status: 403,
  reason: "host",
  message: "invalid host specified (json-rpc.vhosts)",
};

/** Of the metrics too. */
export const FOREIGN_LOAD: Rejection = {
  status: 403,
  reason: "origin",
  message: "pages of other origins may not load this (Sec-Fetch-Site)",
};

/** Why a request, or a WebSocket upgrade, may not reach this listener at all: its Host, its Origin, or a page that sends none. */
export function rejectionOfSource(
  request: IncomingMessage,
  { allowedHosts, allowedOrigins }: Pick<TcpListenerOptions, "allowedHosts" | "allowedOrigins">,
): Rejection | undefined {
  const { host, origin } = request.headers;
  if (!hasOneHost(request)) {
    return { ...BAD_HOST, status: 400, message: "invalid host specified" };
  }
  if (!isHostAllowed(host, allowedHosts)) return { ...BAD_HOST, subject: host };
  if (!isOriginAllowed(origin, host, allowedOrigins)) {
    const message = "origin not allowed (json-rpc.cors-origins)";
    return { status: 403, reason: "origin", message, subject: origin };
  }
  // Where every page may call, one gains nothing by hiding.
  if (!allowedOrigins.includes("*") && isForeignLoad(request.headers)) return FOREIGN_LOAD;
  return undefined;
}

/** node:http joins two Host headers to the first one; behind a proxy that takes the second they are an attack. */
function hasOneHost({ rawHeaders, url }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  }
  return hosts <= 1 && (url?.startsWith("/") === true || url === "*");
}

/** RFC 6750: names the required kind of credential, but not the fault of the given one. */
export const CHALLENGE = { "www-authenticate": "Bearer" };
const BAD_TOKEN: Rejection = {
  status: 401,
  reason: "token",
  message: `unauthorized: the token was rejected; private methods need ${ACCESS_HINT}`,
  headers: CHALLENGE,
};

/** Judges a request's credential, for HTTP requests and WebSocket upgrades alike. */
export function authenticateRequest(
  { headers, url, socket }: IncomingMessage,
  { authenticate }: { readonly authenticate?: Authenticate },
): Authentication {
  const presented = {
    authorization: headers.authorization,
    url,
    source: socket.remoteAddress ?? "unknown",
  };
  return authenticate?.(presented) ?? { kind: "none" };
}

/** Why a request with that outcome is not served at all, not even its public calls: its sender believes to be somebody. */
export function rejectionOfCredential(authentication: Authentication): Rejection | undefined {
  if (authentication.kind === "invalid") return BAD_TOKEN;
  if (authentication.kind !== "throttled") return undefined;
  return {
    status: 429,
    reason: "tokenLimit",
    message: "too many bad tokens",
    headers: { "retry-after": String(authentication.retryAfterS) },
  };
}

/** Where a request or an upgrade comes from. */
export function sourceOf({ headers, socket }: IncomingMessage, certified: string | undefined): CallSource {
  const apiKey = headers["x-api-key"];
  return {
    remoteAddress: socket.remoteAddress ?? "unknown",
    apiKey: typeof apiKey === "string" ? apiKey : undefined,
    certified,
  };
}

/** The common name of the client's certificate, which was checked before anything was read from the connection; undefined: none was requested, or it has no such name. */
export function certifiedNameOf(socket: Duplex): string | undefined {
  const name: unknown = (socket as Partial<TLSSocket>).getPeerCertificate?.().subject?.CN;
  return typeof name === "string" && name !== "" ? name : undefined;
}

export function credentialOf(authentication: Authentication) {
  return authentication.kind === "valid" ? authentication.credential : undefined;
}
