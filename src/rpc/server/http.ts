import { constants } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Authenticate } from "../auth/authenticator.ts";
import { type AccessPolicy, RequestContext } from "../dispatch/context.ts";
import type { Dispatcher, Reply } from "../dispatch/dispatcher.ts";
import type { RpcObserver } from "../dispatch/observer.ts";
import type { JsonPart } from "../params/codec.ts";
import { createFastHttp, type FastHttp } from "./fast-http.ts";
import { refuseSocket, sendRefusal } from "./http-refusal.ts";
import type { RpcLimits } from "./limits.ts";
import { isHostAllowed, isOriginAllowed } from "./origin.ts";
import {
  authenticateRequest,
  CHALLENGE,
  credentialOf,
  type HeaderFields,
  type Refusal,
  whyNotAuthentic,
} from "./refusal.ts";

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
  /** Answer plain calls without node:http; true if not given. */
  readonly fastHttp?: boolean;
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
  /** The last answer begun on each connection. */
  const answers = new WeakMap<Duplex, ServerResponse>();
  const server = createTcpServer(options.tls, {
    keepAliveTimeout: limits.httpIdleTimeoutMs,
    headersTimeout: limits.httpHeadersTimeoutMs,
    requestTimeout: limits.httpHeadersTimeoutMs + limits.httpBodyTimeoutMs,
    connectionsCheckingInterval: Math.min(2000, limits.httpHeadersTimeoutMs / 2),
  });
  const isFast = modules.servesCalls && options.tls === undefined && (options.fastHttp ?? true);
  const fast = isFast ? putFastHttpBefore(server, options, modules) : undefined;
  const serve = (isHeld: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    const begin = () => {
      answers.set(request.socket, response);
      serveRequest(options, modules, sockets.size, request, response, isHeld);
    };
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
    // A refusal for want of room is node:http's to make, like all of them.
    if (sockets.size <= limits.httpConnectionsMax) fast?.serve(socket);
    else fast?.handOver(socket);
  });
  server.on("clientError", (error, socket) => {
    refuseSocket(error, socket as Socket, answers.get(socket), observer);
  });
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
    close: (graceMs = 5000) => closeServer(server, fast, graceMs),
  };
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

/** Makes plain calls bypass `server`, which goes on to serve every connection that is handed to it. */
function putFastHttpBefore(
  server: Server,
  { access, allowedHosts, limits }: ListenerOptions,
  { dispatcher, observer }: HttpModules,
): FastHttp & { readonly handOver: (socket: Socket) => void } {
  // Taken from its event, node:http's own listener serves the connections it is called with.
  const serveHttp = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  function handOver(socket: Socket): void {
    for (const listener of serveHttp) listener.call(server, socket);
  }
  const caller = {
    transport: "http",
    access,
    credential: undefined,
    connection: undefined,
  } as const;
  let allowedHost: string | undefined;
  const fast = createFastHttp(
    { caller, limits, headersOf: replyHeaders },
    {
      dispatcher,
      admits({ host, contentType }) {
        if (host !== allowedHost) {
          if (!isHostAllowed(host, allowedHosts)) return false;
          allowedHost = host;
        }
        return isJson(contentType);
      },
      refused: (reason) => observer.refused("http", reason),
      handOver(socket, unread) {
        handOver(socket);
        socket.unshift(unread);
        socket.resume();
      },
    },
  );
  return { ...fast, handOver };
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

const BAD_HOST: Refusal = { status: 403, reason: "host", message: "invalid host specified" };
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
    ...replyHeaders(reply),
    "content-length": length,
  });
  if (parts.length <= 1) response.end(parts[0]);
  else {
    response.cork();
    for (const part of parts) response.write(part);
    response.end();
    response.uncork();
  }
  // node:http writes at the end of this turn; only what the system did not take then waits for the reader.
  process.nextTick(cutSlowReader, response, limits.httpReplyTimeoutMs, observer);
}

function replyHeaders(reply: Reply | undefined): HeaderFields {
  return { ...(reply?.isUnauthorized && CHALLENGE), "content-type": "application/json" };
}

function cutSlowReader(response: ServerResponse, timeoutMs: number, observer: RpcObserver): void {
  if (response.writableLength === 0 || response.destroyed) return;
  const timer = setTimeout(() => {
    observer.refused("http", "slowReader");
    response.destroy();
  }, timeoutMs);
  response.once("close", () => clearTimeout(timer));
}

function byteLength(part: JsonPart): number {
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

function closeServer(server: Server, fast: FastHttp | undefined, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      server.closeAllConnections();
      fast?.destroyAll();
    }, graceMs);
    // A connection whose call ends now is kept for a next one unless somebody looks again.
    const sweep = setInterval(() => server.closeIdleConnections(), IDLE_SWEEP_MS);
    server.close(() => {
      clearTimeout(timer);
      clearInterval(sweep);
      resolve();
    });
    server.closeIdleConnections();
    fast?.endIdle();
  });
}
