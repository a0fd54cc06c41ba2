export type HeaderFields = Readonly<Record<string, string>>;

/** A request rejected before any call of it was run. */
export type Rejection = {
  readonly status: number;
  /** Label of the counter. */
  readonly reason: string;
  readonly message: string;
  readonly headers?: HeaderFields;
  /** For the log: the rejected value, in the caller's words. */
  readonly subject?: string | undefined;
};

/** The JSON-RPC error object sent with an HTTP status other than 200. */
export function rejectionBody(status: number, message: string): string {
  const code = status === 401 ? -32001 : status === 503 || status === 429 ? -32005 : -32600;
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
}

export const NOT_FOUND: Rejection = { status: 404, reason: "path", message: "not found" };

/** Calls and WebSockets are served only at the root, with any query. */
export function isRootPath(target: string | undefined): boolean {
  return target?.split("?", 1)[0] === "/";
}

export const TOO_MANY_CONNECTIONS: Rejection = {
  status: 503,
  reason: "connections",
  message: "too many connections",
  headers: { "retry-after": "1" },
};

/** The input budget of all connections is used up, and this one held the most of it. */
export const INPUT_MEMORY: Rejection = {
  status: 503,
  reason: "inputMemory",
  message: "too much memory in requests, try again later",
  headers: { "retry-after": "1" },
};
