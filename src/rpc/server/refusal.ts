import type { IncomingMessage } from "node:http";
import type { Authenticate, Authentication } from "../auth/authenticator.ts";

export type HeaderFields = Readonly<Record<string, string>>;

/** A request turned away before anything of it was run. */
export type Refusal = {
  readonly status: number;
  /** For the counters. */
  readonly reason: string;
  readonly message: string;
  readonly headers?: HeaderFields;
};

/** The JSON-RPC error object sent with an HTTP status other than 200. */
export function refusalBody(status: number, message: string): string {
  const code = status === 401 ? -32001 : status === 503 || status === 429 ? -32005 : -32600;
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
}

/** RFC 6750: says which kind of credential would do, and nothing of what was wrong with the one given. */
export const CHALLENGE = { "www-authenticate": "Bearer" };
const BAD_TOKEN: Refusal = {
  status: 401,
  reason: "token",
  message: "unauthorized",
  headers: CHALLENGE,
};

/** The one look at a request's credential; HTTP requests and WebSocket upgrades get the same. */
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

/** Why a request with that outcome is not served at all, not even its public calls: its sender is mistaken about who it is. */
export function whyNotAuthentic(authentication: Authentication): Refusal | undefined {
  if (authentication.kind === "invalid") return BAD_TOKEN;
  if (authentication.kind !== "throttled") return undefined;
  return {
    status: 429,
    reason: "tokenLimit",
    message: "too many bad tokens",
    headers: { "retry-after": String(authentication.retryAfterS) },
  };
}

export function credentialOf(authentication: Authentication) {
  return authentication.kind === "valid" ? authentication.credential : undefined;
}
