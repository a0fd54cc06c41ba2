import { BATCH_MAX, FORWARDED_METHODS, PAGE_TRACERS } from "../explorer/page-methods.ts";
import { scanJson } from "../rpc/transport/dispatch/json-scan.ts";
import { InvalidRequestError } from "../rpc/transport/errors.ts";
import { DEFAULT_RPC_LIMITS } from "../rpc/transport/limits.ts";

/** What to do with the body of a request of a page. */
export type ForwardedCalls =
  /** To the node, as this text. */
  | { readonly kind: "forwarded"; readonly body: string }
  /** To the page, in place of an answer of the node. */
  | { readonly kind: "rejected"; readonly answer: string };

const FORWARDED: ReadonlySet<unknown> = new Set(FORWARDED_METHODS);
const TRACERS: ReadonlySet<unknown> = new Set(PAGE_TRACERS);

/** Codes of JSON-RPC 2.0. */
const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;

type Call = { readonly id: string | number; readonly method: string; readonly params: unknown[] };

class RejectedCall extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Decodes the calls of a page and writes them again, so that the node reads exactly the methods that were checked here: of two
 * members with one name this parser may take another one than the node's.
 */
export function forwardedCalls(body: Buffer): ForwardedCalls {
  try {
    const calls = callsIn(body);
    const written = calls.list.map((call) => ({ jsonrpc: "2.0", ...checked(call) }));
    return { kind: "forwarded", body: JSON.stringify(calls.isBatch ? written : written[0]) };
  } catch (error) {
    if (!(error instanceof RejectedCall)) throw error;
    const { code, message } = error;
    const rejection = { jsonrpc: "2.0", id: null, error: { code, message } };
    return { kind: "rejected", answer: JSON.stringify(rejection) };
  }
}

function callsIn(body: Buffer): { readonly list: readonly unknown[]; readonly isBatch: boolean } {
  let value: unknown;
  try {
    // As the node does: some engines end at arrays in arrays without end, and others write them on.
    scanJson(body, DEFAULT_RPC_LIMITS);
    value = JSON.parse(body.toString("utf8"));
  } catch (error) {
    if (error instanceof InvalidRequestError) {
      throw new RejectedCall(INVALID_REQUEST, error.message);
    }
    throw new RejectedCall(PARSE_ERROR, "not JSON");
  }
  const isBatch = Array.isArray(value);
  const list: readonly unknown[] = isBatch ? (value as unknown[]) : [value];
  if (list.length === 0 || list.length > BATCH_MAX) {
    throw new RejectedCall(INVALID_REQUEST, `a batch has 1 to ${BATCH_MAX} calls`);
  }
  return { list, isBatch };
}

function checked(value: unknown): Call {
  const { id, method, params = [] } = Object(value) as Readonly<Record<string, unknown>>;
  if ((typeof id !== "number" && typeof id !== "string") || typeof method !== "string") {
    throw new RejectedCall(INVALID_REQUEST, "a call has an id and a method");
  }
  if (!FORWARDED.has(method)) {
    throw new RejectedCall(METHOD_NOT_FOUND, "the explorer does not forward this method");
  }
  if (!Array.isArray(params)) throw new RejectedCall(INVALID_PARAMS, "params are a list");
  if (method === "debug_traceTransaction" && !TRACERS.has(Object(params[1]).tracer)) {
    throw new RejectedCall(INVALID_PARAMS, `the explorer traces by ${PAGE_TRACERS.join(" or ")}`);
  }
  return { id, method, params };
}
