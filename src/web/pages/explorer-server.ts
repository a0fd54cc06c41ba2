import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { NodeError } from "../../base/errors.ts";
import type { RemoteUrl } from "../../base/telemetry/remote-url.ts";
import { scanJson } from "../../rpc/transport/dispatch/json-scan.ts";
import { InvalidRequestError } from "../../rpc/transport/errors.ts";
import { DEFAULT_RPC_LIMITS } from "../../rpc/transport/limits.ts";
import { rejectionOfSource } from "../../rpc/transport/server/admission.ts";
import { isJson } from "../../rpc/transport/server/http-request.ts";
import { resolveTarget } from "../../rpc/transport/server/incoming-request.ts";
import { DEFAULT_ALLOWED_HOSTS } from "../../rpc/transport/server/origin.ts";
import { BATCH_MAX, FORWARDED_METHODS, PAGE_TRACERS } from "../explorer/page-methods.ts";
import { createPageServer, type PageTable } from "./answer-page.ts";
import { answerExplorerLink } from "./start-page.ts";

/** What to do with the body of a request of a page. */
type ForwardedCalls =
  /** To the node, as this text. */
  | { readonly kind: "forwarded"; readonly body: string }
  /** To the page, instead of an answer of the node. */
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
function forwardedCalls(body: Buffer): ForwardedCalls {
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

type ExplorerServerOptions = {
  /** JSON-RPC over HTTP, of the node to look at */
  readonly remote: RemoteUrl;
  readonly host: string;
  /** 0: any free one */
  readonly port: number;
  readonly pages: PageTable;
  /** Gets what reading a page, or the node, failed with. */
  readonly onError: (error: unknown) => void;
};

export type ExplorerServer = { readonly url: string; close(): Promise<void> };

/** A trace of a large transaction takes this long; the page shows the outcome. */
const CALL_TIMEOUT_MS = 60_000;

/** More than the traces and blocks of a page take; a tab would not survive more. */
const ANSWER_BYTES_MAX = 64 * 1024 * 1024;

/** Only pages of this server may call. */
const ADMITTED = { allowedHosts: DEFAULT_ALLOWED_HOSTS, allowedOrigins: [] };

/**
 * Serves the explorer beside any node: the pages, and at `/` the node's JSON-RPC, so that a page calls its own origin alone.
 * Requests of other web pages are rejected, as the node's own listener does.
 */
export async function startExplorerServer(options: ExplorerServerOptions): Promise<ExplorerServer> {
  const { host, port, pages, onError } = options;
  const answerPage = createPageServer(pages, onError);
  const server = createServer((request, response) => {
    resolveTarget(request);
    const { method, url } = request;
    const rejection = rejectionOfSource(request, ADMITTED);
    if (rejection !== undefined) end(response, rejection.status);
    else if (answerPage(request, response) || answerExplorerLink(request, response)) {
      return;
    } else if (method === "POST" && url === "/") {
      forward(request, response, options).catch((error: Error) => {
        if (isLeft(error)) return;
        onError(error);
        // Half an answer must not look like one.
        if (response.headersSent) response.destroy();
        else end(response, 502);
      });
    } else if (method === "GET" && url === "/") {
      response.writeHead(307, { location: "/explorer/", "content-length": 0 }).end();
    } else end(response, 404);
  });
  server.requestTimeout = DEFAULT_RPC_LIMITS.messageTimeoutMs;
  server.maxConnections = DEFAULT_RPC_LIMITS.httpConnectionsMax;
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}/explorer/`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** @throws UnusableAnswerError, and what fetch throws where the node cannot be reached or does not answer in time */
async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  { remote }: ExplorerServerOptions,
): Promise<void> {
  // A form or a script of another page cannot send this type without asking first.
  if (!isJson(request.headers["content-type"])) {
    end(response, 415);
    return;
  }
  const body = await readBody(request);
  if (body === undefined) {
    end(response, 413);
    return;
  }
  const calls = forwardedCalls(body);
  if (calls.kind === "rejected") {
    response.writeHead(200, ANSWER_HEADERS).end(calls.answer);
    return;
  }
  const left = new AbortController();
  response.once("close", () => left.abort());
  const answer = await fetch(remote.url, {
    method: "POST",
    // Compressed data could expand to a thousand times the bytes that the node sends.
    headers: {
      "content-type": "application/json",
      "accept-encoding": "identity",
      ...remote.headers,
    },
    body: calls.body,
    redirect: "error",
    signal: AbortSignal.any([left.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]),
  });
  if (answer.headers.get("content-encoding") !== null || answer.body === null) {
    await answer.body?.cancel();
    throw new UnusableAnswerError("the node's answer is packed, or empty");
  }
  response.writeHead(answer.status < 400 ? 200 : answer.status, ANSWER_HEADERS);
  await pipeline(answer.body, limited(ANSWER_BYTES_MAX), response);
}

/** The page has closed the connection: while it sent, while the node was asked, or while it got the answer. */
function isLeft({ name, code }: NodeJS.ErrnoException): boolean {
  return name === "AbortError" || code === "ERR_STREAM_PREMATURE_CLOSE" || code === "ECONNRESET";
}

const ANSWER_HEADERS = {
  "content-type": "application/json",
  "x-content-type-options": "nosniff",
};

/** The node's answer is unusable for a page. */
class UnusableAnswerError extends NodeError {
  readonly code = "EXPLORER_UNUSABLE_ANSWER";
}

/** Passes bytes on as they come. Fails after `bytesMax`. */
function limited(bytesMax: number): Transform {
  let length = 0;
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      length += chunk.length;
      if (length > bytesMax) done(new UnusableAnswerError("the node's answer is too large"));
      else done(null, chunk);
    },
  });
}

/** undefined: longer than a node takes. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > DEFAULT_RPC_LIMITS.bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function end(response: ServerResponse, status: number): void {
  if (!response.headersSent) response.writeHead(status, { "content-length": 0 });
  response.end();
}
