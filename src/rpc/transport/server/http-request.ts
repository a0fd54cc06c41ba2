import type { IncomingMessage, ServerResponse } from "node:http";
import { type AccessPolicy, RequestContext } from "../dispatch/context.ts";
import type { Reply } from "../dispatch/dispatcher.ts";
import type { MemoryBudgets } from "../memory-budget.ts";
import {
  authenticateRequest,
  CHALLENGE,
  credentialOf,
  rejectionOfCredential,
  rejectionOfSource,
  sourceOf,
} from "./admission.ts";
import { acceptsGzip, placeOfClient, type ReplyCompressor, type SentReply } from "./compression.ts";
import type { HttpConnection } from "./http-connection.ts";
import { sendRejection } from "./http-rejection.ts";
import type { ListenerModules, TcpListenerOptions } from "./listener.ts";
import { MessageBuffer } from "./message-buffer.ts";
import { type HeaderFields, isRootPath, NOT_FOUND, type Rejection, TOO_MANY_CONNECTIONS } from "./rejection.ts";

/**
 * Serves a request that is not a call (health, documents, pages); returns true if it did. `rejectionOfSource` has let it pass.
 * @param budgets memory that it shares with calls
 */
export type OtherRequest = (
  request: IncomingMessage,
  response: ServerResponse,
  access: AccessPolicy,
  budgets: MemoryBudgets,
) => boolean;

export type HttpRequestModules = ListenerModules & {
  readonly otherRequest?: OtherRequest;
  readonly compressor: ReplyCompressor;
  /** False on a WebSocket-only port. */
  readonly servesCalls: boolean;
};

/** One HTTP request of one connection. */
export type HttpExchange = {
  readonly connection: HttpConnection;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The client waits for 100-continue before it sends its body. */
  readonly isHeld: boolean;
  /** More connections than the limit are open. */
  readonly isOverLimit: boolean;
};

const CONTENT_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/json-rpc",
  "application/jsonrequest",
]);

/**
 * Chunks of a body, besides one for each 64 bytes: a client that sends single bytes costs 10,000 events a read, and 40 of them
 * stalled the node for seconds (`npm run bench -- worst-case`).
 */
const SMALL_CHUNKS_MAX = 2048;
const CHUNK_BYTES_MIN = 64;

const METHODS = "POST, GET, HEAD, OPTIONS";
const PREFLIGHT_MAX_AGE_S = "600";

/** Serves one request. What can be rejected without the body is rejected before it is read. */
export function serveRequest(options: TcpListenerOptions, modules: HttpRequestModules, exchange: HttpExchange): void {
  const { request, response, connection, isHeld } = exchange;
  const { headers, method } = request;
  const reject = (rejection: Rejection) => {
    modules.observer.rejected("http", rejection.reason, rejection.subject);
    sendRejection(request, response, rejection, isHeld, modules.timers);
  };

  const notAdmitted = exchange.isOverLimit ? TOO_MANY_CONNECTIONS : rejectionOfSource(request, options);
  if (notAdmitted) {
    reject(notAdmitted);
    return;
  }
  if (headers.origin !== undefined) allowOrigin(response, headers.origin);
  if (method === "OPTIONS") {
    answerPreflight(request, response);
    return;
  }
  if (modules.otherRequest?.(request, response, options.access, modules.budgets)) return;
  // Load balancers probe like this.
  if ((method === "GET" || method === "HEAD") && request.url === "/" && modules.servesCalls) {
    response.writeHead(200, { "content-length": "0" }).end();
    return;
  }
  const notACall = rejectionOfForm(options, request, modules.servesCalls);
  if (notACall) {
    reject(notACall);
    return;
  }
  const authentication = authenticateRequest(request, modules);
  const unauthentic = rejectionOfCredential(authentication);
  if (unauthentic) {
    reject(unauthentic);
    return;
  }

  if (isHeld) response.writeContinue();
  const onTooManyChunks = () => {
    modules.observer.rejected("http", "chunks");
    request.socket.destroy();
  };
  readBody(request, connection, options.limits.bodyBytesMax, onTooManyChunks, (body) => {
    if (body === undefined) {
      reject(bodyTooLarge("more", options.limits.bodyBytesMax));
      return;
    }
    const source = sourceOf(request, connection.certified);
    const context = new RequestContext({
      transport: "http",
      access: options.access,
      credential: credentialOf(authentication),
      connection: undefined,
      source,
    });
    if (modules.observer.traceCall !== undefined) context.traceparent = traceparentOf(headers);
    const answer = modules.dispatcher.dispatch(body, context);
    const reply = acceptsGzip(headers["accept-encoding"])
      ? modules.compressor.compressed(answer, placeOfClient(request))
      : answer;
    if (reply instanceof Promise) {
      connection.input.add(context.inputBytes);
      context.onInputBytes = (change) => connection.input.add(change);
      response.once("close", () => context.abort());
      void reply.then((done) => {
        connection.input.add(-context.inputBytes);
        sendReply(exchange, done, options, modules);
        context.replied();
      });
    } else {
      sendReply(exchange, reply, options, modules);
      context.replied();
    }
  });
}

/** node:http joins repeated headers of this name: two are malformed. */
function traceparentOf({ traceparent }: IncomingMessage["headers"]): string | undefined {
  return typeof traceparent === "string" ? traceparent : undefined;
}

/** What its headers must hold for a request to be a JSON-RPC call. */
function rejectionOfForm(
  { limits, takesAnyContentType = false }: TcpListenerOptions,
  { headers, method, url }: IncomingMessage,
  servesCalls: boolean,
): Rejection | undefined {
  if (!servesCalls) {
    return {
      status: 426,
      reason: "upgrade",
      message: "this port serves WebSocket connections only",
      headers: { upgrade: "websocket" },
    };
  }
  if (!isRootPath(url)) return NOT_FOUND;
  if (method !== "POST") {
    return {
      status: 405,
      reason: "method",
      message: "method not allowed",
      headers: { allow: METHODS },
    };
  }
  const length = Number(headers["content-length"] ?? 0);
  if (length > limits.bodyBytesMax) return bodyTooLarge(length, limits.bodyBytesMax);
  const isTaken = takesAnyContentType || isJson(headers["content-type"]);
  if (!isTaken || isEncoded(headers["content-encoding"])) {
    return {
      status: 415,
      reason: "contentType",
      message: "invalid content type, only application/json is supported",
    };
  }
  return undefined;
}

function bodyTooLarge(length: number | "more", bytesMax: number): Rejection {
  return {
    status: 413,
    reason: "body",
    message: `content length too large (${length}>${bytesMax})`,
  };
}

/** Whether a body is other than it stands there; `identity` says that it is not (RFC 9110, 8.4.1). */
function isEncoded(contentEncoding: string | undefined): boolean {
  return contentEncoding !== undefined && contentEncoding.toLowerCase() !== "identity";
}

export function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return CONTENT_TYPES.has((contentType ?? "").split(";", 1)[0]!.trim().toLowerCase());
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "origin");
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("allow", METHODS);
  if (request.headers.origin !== undefined) {
    response.setHeader("access-control-allow-methods", "POST, GET");
    response.setHeader("access-control-allow-headers", "content-type, authorization");
    response.setHeader("access-control-max-age", PREFLIGHT_MAX_AGE_S);
    // Chrome asks before a page of the internet may call a private address; the Origin is on the list by now.
    if (request.headers["access-control-request-private-network"] === "true") {
      response.setHeader("access-control-allow-private-network", "true");
    }
  }
  response.writeHead(204).end();
}

/** Hands over the whole body, or undefined once it grows beyond `bytesMax`. An aborted request is dropped. */
function readBody(
  request: IncomingMessage,
  { input }: HttpConnection,
  bytesMax: number,
  onTooManyChunks: () => void,
  done: (body: Buffer | undefined) => void,
): void {
  const body = new MessageBuffer();
  let charged = 0;
  let chunks = 0;
  const charge = (bytes: number) => {
    const change = bytes - charged;
    charged = bytes;
    input.add(change);
  };
  const stop = () => {
    request.removeAllListeners("data").removeAllListeners("end");
    charge(0);
  };
  request.on("data", (chunk: Buffer) => {
    if (body.length + chunk.length > bytesMax) {
      stop();
      done(undefined);
      return;
    }
    body.push(chunk);
    if (++chunks > SMALL_CHUNKS_MAX + body.length / CHUNK_BYTES_MIN) {
      stop();
      onTooManyChunks();
      return;
    }
    charge(body.heldBytes);
  });
  request.once("end", () => {
    stop();
    done(body.take());
  });
  request.once("close", stop);
}

function sendReply(
  { connection, response }: HttpExchange,
  reply: SentReply | undefined,
  { limits }: TcpListenerOptions,
  modules: Pick<ListenerModules, "observer" | "timers">,
): void {
  if (response.destroyed || response.headersSent) return;
  const parts = reply?.parts ?? [];
  response.writeHead(reply?.isUnauthorized ? 401 : 200, {
    ...replyHeaders(reply),
    "content-length": replyBytes(reply),
  });
  if (parts.length <= 1) response.end(parts[0]);
  else {
    response.cork();
    for (const part of parts) response.write(part);
    response.end();
    response.uncork();
  }
  // node:http writes at the end of this turn; bytes that the system did not accept then wait for the reader.
  process.nextTick(watchUnsent, connection, response, limits.httpReplyTimeoutMs, modules);
}

export function replyHeaders(reply: SentReply | undefined): HeaderFields {
  return {
    ...(reply?.isUnauthorized && CHALLENGE),
    "content-type": "application/json",
    ...(reply?.isGzip && { "content-encoding": "gzip" }),
  };
}

/** The length of an answer's body. */
export function replyBytes(reply: Reply | undefined): number {
  if (reply === undefined) return 0;
  if (reply.byteLength !== undefined) return reply.byteLength;
  let length = 0;
  for (const part of reply.parts) {
    length += typeof part === "string" ? Buffer.byteLength(part) : part.length;
  }
  return length;
}

/** Charges bytes that the client has not read, and closes the connection if it does not read in time. */
function watchUnsent(
  { output }: HttpConnection,
  response: ServerResponse,
  timeoutMs: number,
  { observer, timers }: Pick<ListenerModules, "observer" | "timers">,
): void {
  if (response.writableLength === 0 || response.destroyed) return;
  const timer = timers.after(timeoutMs, "slow reader", () => {
    observer.rejected("http", "slowReader");
    response.destroy();
  });
  response.once("close", () => {
    timer.cancel();
    output.set(0);
  });
  output.set(response.writableLength);
}
