import { NodeError } from "../errors.ts";

/** What a plain rejection of a method gets, in geth and therefore here. */
const REJECTED = -32000;

/**
 * The JSON-RPC code of every rejection in `src/`, by its `code`; a test finds one that is missing.
 * The codes are those of JSON-RPC 2.0 and geth; where recorded execution-apis conversations differ they win.
 */
export const RPC_CODES = {
  RPC_PARSE_ERROR: -32700,
  RPC_INVALID_REQUEST: -32600,
  RPC_METHOD_NOT_FOUND: -32601,
  RPC_NOTIFICATIONS_UNSUPPORTED: -32601,
  RPC_INVALID_PARAMS: -32602,
  RPC_INVALID_VALUE: -32602,
  RPC_TIMEOUT: -32002,
  RPC_RESPONSE_TOO_LARGE: -32003,
  RPC_UNAUTHORIZED: -32001,
  INVALID_HEX: REJECTED,
  INVALID_RLP: REJECTED,
} as const satisfies Readonly<Record<string, number>>;

/** Rejections whose `details.data` is sent along as the error's `data`. */
const CODES_WITH_DATA: ReadonlySet<string> = new Set([]);

export type ErrorObject = {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
};

/** A bug, or an error nobody meant to throw: the caller learns nothing but that. */
const CRASHED: ErrorObject = { code: -32603, message: "method handler crashed" };

/** The error object for whatever a method threw. */
export function toErrorObject(error: unknown): ErrorObject {
  if (!(error instanceof NodeError)) return CRASHED;
  const code = (RPC_CODES as Readonly<Record<string, number>>)[error.code] ?? REJECTED;
  return CODES_WITH_DATA.has(error.code)
    ? { code, message: error.message, data: error.details["data"] }
    : { code, message: error.message };
}

/** True when `error` is not a rejection but a failure of ours that has to be looked into. */
export function isCrash(error: unknown): boolean {
  return !(error instanceof NodeError);
}
