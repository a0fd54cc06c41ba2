import { constants } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Authenticate, Authentication } from "./auth/authenticator.ts";
import type { JsonText } from "./codec.ts";
import { type AccessPolicy, RequestContext } from "./context.ts";
import type { Dispatcher, Reply } from "./dispatcher.ts";
import type { RpcLimits } from "./limits.ts";
import type { RpcObserver } from "./observer.ts";
import { isHostAllowed, isOriginAllowed } from "./origin.ts";

export type ListenerOptions = {
  readonly host: string;
  /** 0: any free port */
  readonly port: number;
  readonly access: AccessPolicy;
  /** Host names besides IP literals, see `isHostAllowed`. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call, see `isOriginAllowed`. */
  readonly allowedOrigins: readonly string[];
  readonly limits: RpcLimits;
  /** Speaks TLS when present. */
  readonly tls?: TlsMaterial;
};

/** Certificate chain and private key, PEM. */
export type TlsMaterial = { readonly cert: string; readonly key: string };

export type ListenerModules = {
  readonly dispatcher: Dispatcher;
  readonly observer: RpcObserver;
  /** Absent: nobody is ever authenticated. */
  readonly authenticate?: Authenticate;
};

export type HttpModules = ListenerModules & {
  /** Takes WebSocket upgrades of this port, if they are served here. */
  readonly acceptUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Serves a request that is none of ours (health, metrics, pages): true when it took it. Host and Origin are checked. */
  readonly otherRequest?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** False on a port for WebSocket alone. */
  readonly servesCalls: boolean;
};

/** A listening socket. */
export type Listener = {
  readonly url: string;
  /** Stops accepting, lets running calls end for `graceMs`, then cuts what is left. */
  close(graceMs?: number): Promise<void>;
};

const CONTENT_TYPES: ReadonlySet<string> = new Set([
  "application/json",
  "application/json-rpc",
  "application/jsonrequest",
]);

/** How often a closing server drops connections that fell idle. */
const IDLE_SWEEP_MS = 20;

const PREFLIGHT_MAX_AGE_S = "600";

/** Serves JSON-RPC over HTTP/1.1. Whatever can be refused without the body is refused before it is read. */
export async function listenHttp(
  options: ListenerOptions,
  modules: HttpModules,
): Promise<Listener> {
  const { limits } = options;
  const { observer, acceptUpgrade } = modules;
  const sockets = new Set<Socket>();
  const server = createTcpServer(options.tls, {
    keepAliveTimeout: limits.httpIdleTimeoutMs,
    headersTimeout: limits.httpHeadersTimeoutMs,
    requestTimeout: limits.httpHeadersTimeoutMs + limits.httpBodyTimeoutMs,
    connectionsCheckingInterval: Math.min(2000, limits.httpHeadersTimeoutMs / 2),
  });
  const serve = (isHeld: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    const begin = () => serveRequest(options, modules, sockets.size, request, response, isHeld);
    // One request at a time: the answers to those sent in one packet could fill the memory, and nobody would have read one yet.
    if (response.socket) begin();
    else response.once("socket", begin);
  };
  server.on("request", serve(false));
  // A client that asks before it sends its body gets its refusal before it sends its body.
  server.on("checkContinue", serve(true));
  server.on("connection", (socket) => {
    // Beyond the limit callers are told so; at twice the limit there is no time for that.
    if (sockets.size >= 2 * limits.httpConnectionsMax) {
      observer.refused("http", "connections");
      socket.destroy();
      return;
    }
    sockets.add(socket);
    observer.connections("http", sockets.size);
    socket.once("close", () => forget(socket));
  });
  server.on("clientError", (error, socket) => refuseSocket(error, socket, observer));
  function forget(socket: Socket) {
    if (sockets.delete(socket)) observer.connections("http", sockets.size);
  }
  if (acceptUpgrade) {
    server.on("upgrade", (request, socket, head) => {
      forget(socket as Socket);
      acceptUpgrade(request, socket, head);
    });
  }
  await listen(server, options);
  return {
    url: listenerUrl(
      server,
      options.host,
      `${modules.servesCalls ? "http" : "ws"}${options.tls ? "s" : ""}`,
    ),
    close: (graceMs = 5000) => closeServer(server, graceMs),
  };
}

/** What node:http finds wrong with a connection, by the `code` of its error. */
const CLIENT_FAULTS: Readonly<Record<string, Pick<Refusal, "status" | "reason">>> = {
  HPE_HEADER_OVERFLOW: { status: 431, reason: "headers" },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, reason: "body" },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, reason: "timeout" },
};
const MALFORMED = { status: 400, reason: "malformed" };

/** Ends a connection on which no request can follow any more. */
function refuseSocket(error: NodeJS.ErrnoException, stream: Duplex, observer: RpcObserver): void {
  const socket = stream as Socket;
  if (socket.writable && error.code !== "ECONNRESET") {
    const { status, reason } = CLIENT_FAULTS[error.code ?? ""] ?? MALFORMED;
    observer.refused("http", reason);
    // Behind an answer this would be taken for one to a request that was never sent.
    if (socket.bytesWritten === 0) {
      const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}`;
      socket.write(`${head}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
    }
  }
  socket.destroySoon();
}

function createTcpServer(tls: TlsMaterial | undefined, options: ServerOptions): Server {
  if (tls === undefined) return createServer(options);
  return createTlsServer({
    ...options,
    ...tls,
    minVersion: "TLSv1.2",
    // A client could make the server work for each of many handshakes on one connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: options.headersTimeout,
  });
}

function serveRequest(
  options: ListenerOptions,
  modules: HttpModules,
  connectionCount: number,
  request: IncomingMessage,
  response: ServerResponse,
  isHeld: boolean,
): void {
  const { headers, method } = request;
  const refuse = (refusal: Refusal) => {
    modules.observer.refused("http", refusal.reason);
    sendRefusal(request, response, refusal, isHeld);
  };

  const notAdmitted = whyNotAdmitted(options, request, connectionCount);
  if (notAdmitted) {
    refuse(notAdmitted);
    return;
  }
  if (headers.origin !== undefined) allowOrigin(response, headers.origin);
  if (method === "OPTIONS") {
    answerPreflight(request, response);
    return;
  }
  if (modules.otherRequest?.(request, response)) return;
  // Load balancers ask like this whether somebody is there.
  if ((method === "GET" || method === "HEAD") && request.url === "/" && modules.servesCalls) {
    response.writeHead(200, { "content-length": "0" }).end();
    return;
  }
  const notACall = whyNotACall(options, request, modules.servesCalls);
  if (notACall) {
    refuse(notACall);
    return;
  }
  const authentication = authenticateRequest(request, modules);
  const unauthentic = whyNotAuthentic(authentication);
  if (unauthentic) {
    refuse(unauthentic);
    return;
  }

  if (isHeld) response.writeContinue();
  readBody(request, options.limits.bodyBytesMax, (body) => {
    if (body === undefined) {
      refuse(bodyTooLarge("more", options.limits.bodyBytesMax));
      return;
    }
    const context = new RequestContext({
      transport: "http",
      access: options.access,
      credential: credentialOf(authentication),
      connection: undefined,
    });
    const reply = modules.dispatcher.dispatch(body, context);
    if (reply instanceof Promise) {
      response.once("close", () => context.abort());
      void reply.then((done) => {
        sendReply(response, done, options, modules);
        context.replied();
      });
    } else {
      sendReply(response, reply, options, modules);
      context.replied();
    }
  });
}

/** A request turned away before anything of it was run. */
export type Refusal = {
  readonly status: number;
  /** For the counters. */
  readonly reason: string;
  readonly message: string;
  readonly headers?: HeaderFields;
};

const BAD_HOST: Refusal = { status: 403, reason: "host", message: "invalid host specified" };
/** RFC 6750: says which kind of credential would do, and nothing of what was wrong with the one given. */
const CHALLENGE = { "www-authenticate": "Bearer" };
const BAD_TOKEN: Refusal = {
  status: 401,
  reason: "token",
  message: "unauthorized",
  headers: CHALLENGE,
};

/** The one look at a request's credential; HTTP requests and WebSocket upgrades get the same. */
export function authenticateRequest(
  { headers, url, socket }: IncomingMessage,
  { authenticate }: ListenerModules,
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

/** What holds for every request, whatever it asks for. */
function whyNotAdmitted(
  options: ListenerOptions,
  request: IncomingMessage,
  connectionCount: number,
): Refusal | undefined {
  const { host, origin } = request.headers;
  if (connectionCount > options.limits.httpConnectionsMax) {
    return {
      status: 503,
      reason: "connections",
      message: "too many connections",
      headers: { "retry-after": "1" },
    };
  }
  if (!hasOneHost(request)) return { ...BAD_HOST, status: 400 };
  if (!isHostAllowed(host, options.allowedHosts)) return BAD_HOST;
  if (!isOriginAllowed(origin, host, options.allowedOrigins)) {
    return { status: 403, reason: "origin", message: "origin not allowed" };
  }
  return undefined;
}

/** What its headers must say for a request to be a JSON-RPC call. */
function whyNotACall(
  { limits }: ListenerOptions,
  { headers, method, url }: IncomingMessage,
  servesCalls: boolean,
): Refusal | undefined {
  if (!servesCalls) {
    return {
      status: 426,
      reason: "upgrade",
      message: "this port serves WebSocket connections only",
      headers: { upgrade: "websocket" },
    };
  }
  if (url?.split("?", 1)[0] !== "/") return { status: 404, reason: "path", message: "not found" };
  if (method !== "POST") {
    const allow = "POST, GET, HEAD, OPTIONS";
    return { status: 405, reason: "method", message: "method not allowed", headers: { allow } };
  }
  const length = Number(headers["content-length"] ?? 0);
  if (length > limits.bodyBytesMax) return bodyTooLarge(length, limits.bodyBytesMax);
  if (!isJson(headers["content-type"]) || headers["content-encoding"] !== undefined) {
    return {
      status: 415,
      reason: "contentType",
      message: "invalid content type, only application/json is supported",
    };
  }
  return undefined;
}

function bodyTooLarge(length: number | "more", bytesMax: number): Refusal {
  return {
    status: 413,
    reason: "body",
    message: `content length too large (${length}>${bytesMax})`,
  };
}

type HeaderFields = Readonly<Record<string, string>>;

/** node:http joins two Host headers to the first one; behind a proxy that takes the second they are an attack. */
export function hasOneHost({ rawHeaders, url }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === 4 && rawHeaders[i]!.toLowerCase() === "host") hosts++;
  }
  return hosts <= 1 && (url?.startsWith("/") === true || url === "*");
}

function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") return true;
  return CONTENT_TYPES.has((contentType ?? "").split(";", 1)[0]!.trim().toLowerCase());
}

function allowOrigin(response: ServerResponse, origin: string): void {
  response.setHeader("access-control-allow-origin", origin);
  response.setHeader("vary", "origin");
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): void {
  response.setHeader("allow", "POST, GET, HEAD, OPTIONS");
  if (request.headers.origin !== undefined) {
    response.setHeader("access-control-allow-methods", "POST, GET");
    response.setHeader("access-control-allow-headers", "content-type, authorization");
    response.setHeader("access-control-max-age", PREFLIGHT_MAX_AGE_S);
    if (request.headers["access-control-request-private-network"] === "true") {
      response.setHeader("access-control-allow-private-network", "true");
    }
  }
  response.writeHead(204).end();
}

/** Hands over the whole body, or undefined once it grows beyond `bytesMax`. A request that breaks off is dropped. */
function readBody(
  request: IncomingMessage,
  bytesMax: number,
  done: (body: Buffer | undefined) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= bytesMax) chunks.push(chunk);
    else {
      request.removeAllListeners("data").removeAllListeners("end");
      done(undefined);
    }
  });
  request.on("end", () => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
}

function sendReply(
  response: ServerResponse,
  reply: Reply | undefined,
  { limits }: ListenerOptions,
  { observer }: HttpModules,
): void {
  if (response.destroyed) return;
  const parts = reply?.parts ?? [];
  let length = 0;
  for (const part of parts) length += byteLength(part);
  response.writeHead(reply?.isUnauthorized ? 401 : 200, {
    ...(reply?.isUnauthorized && CHALLENGE),
    "content-type": "application/json",
    "content-length": length,
  });
  if (parts.length <= 1) response.end(parts[0]);
  else {
    response.cork();
    for (const part of parts) response.write(part);
    response.end();
    response.uncork();
  }
  if (response.writableLength > 0) cutSlowReader(response, limits.httpReplyTimeoutMs, observer);
}

function cutSlowReader(response: ServerResponse, timeoutMs: number, observer: RpcObserver): void {
  const timer = setTimeout(() => {
    observer.refused("http", "slowReader");
    response.destroy();
  }, timeoutMs);
  response.once("close", () => clearTimeout(timer));
}

/** How long, and how far, a refused request may go on before its connection is closed. */
const LINGER_MS = 500;
const LINGER_BYTES = 1024 * 1024;

/** An answer without a call: JSON all the same, because some clients read nothing else. */
function sendRefusal(
  request: IncomingMessage,
  response: ServerResponse,
  { status, message, headers }: Refusal,
  isHeld: boolean,
): void {
  const body = refusalBody(status, message);
  response.writeHead(status, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    connection: "close",
  });
  if (isHeld || request.complete) {
    response.end(body);
    return;
  }
  // A connection closed over unread bytes is reset, and with it goes the answer that its client has not read yet.
  response.write(body);
  const end = () => response.end();
  const timer = setTimeout(end, LINGER_MS);
  response.once("close", () => clearTimeout(timer));
  let size = 0;
  request.on("end", end).on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size > LINGER_BYTES) end();
  });
}

/** The JSON-RPC error object sent with an HTTP status other than 200. */
export function refusalBody(status: number, message: string): string {
  const code = status === 401 ? -32001 : status === 503 || status === 429 ? -32005 : -32600;
  return JSON.stringify({ jsonrpc: "2.0", id: null, error: { code, message } });
}

function byteLength(part: JsonText): number {
  return typeof part === "string" ? Buffer.byteLength(part) : part.length;
}

function listen(server: Server, { host, port }: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function listenerUrl(server: Server, host: string, scheme: string): string {
  const { port } = server.address() as AddressInfo;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function closeServer(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection whose call ends now is kept for a next one unless somebody looks again.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
  });
}
