import { constants, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions } from "node:tls";
import type { Timer, Timers } from "../../../base/telemetry/timers.ts";
import { ReplyCompressor } from "./compression.ts";
import { ConnectionShares } from "./connection-shares.ts";
import { createFastHttp, type FastHttp } from "./fast-http.ts";
import { HttpConnection } from "./http-connection.ts";
import { type HttpRequestModules, isJson, replyHeaders, serveRequest } from "./http-request.ts";
import { IncomingRequest, resolveTarget } from "./incoming-request.ts";
import type { TcpListener, TcpListenerOptions, TlsMaterial } from "./listener.ts";
import { isHostAllowed } from "./origin.ts";

export type HttpModules = Omit<HttpRequestModules, "compressor"> & {
  /** Accepts WebSocket upgrades of this port, if they are served here. */
  readonly acceptUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
};

/** As OpenSSL wants them. */
const TICKET_KEY_BYTES = 48;

/** How often a closing server drops connections that have become idle. */
const IDLE_SWEEP_MS = 20;

/** Serves JSON-RPC over HTTP/1.1. */
export async function listenHttp(options: TcpListenerOptions, given: HttpModules): Promise<TcpListener> {
  const modules = { ...given, compressor: new ReplyCompressor() };
  const { limits, connectionWorkers } = options;
  const { observer, acceptUpgrade } = modules;
  const kind = modules.servesCalls ? "http" : "ws";
  /** By remote end, including TLS connections during the handshake. */
  const accepted = new Map<string, Accepted>();
  const shares = new ConnectionShares<Accepted>(limits.httpConnectionsMax);
  let onDrained = () => {};
  const connections = new Map<Duplex, HttpConnection>();
  const server = createTcpServer(options.tls, {
    IncomingMessage: IncomingRequest,
    maxHeaderSize: limits.httpHeadersBytesMax,
    keepAliveTimeout: limits.httpIdleTimeoutMs,
    headersTimeout: limits.httpHeadersTimeoutMs,
    requestTimeout: limits.httpHeadersTimeoutMs + limits.messageTimeoutMs,
    connectionsCheckingInterval: Math.min(2000, limits.httpHeadersTimeoutMs / 2),
  });
  const isFast = modules.servesCalls && options.tls === undefined && (options.fastHttp ?? true);
  const fast = isFast ? putFastHttpBefore(server, options, modules) : undefined;
  const serve = (isHeld: boolean) => (request: IncomingRequest, response: ServerResponse) => {
    const connection = connections.get(request.socket)!;
    connection.begin(request, response, () => {
      resolveTarget(request);
      const isOverLimit = accepted.size > limits.httpConnectionsMax && shares.isExceeded(request.socket.remoteAddress);
      serveRequest(options, modules, { connection, request, response, isHeld, isOverLimit });
    });
  };
  server.on("request", serve(false));
  // A client that asks before it sends its body gets its rejection before it sends its body.
  server.on("checkContinue", serve(true));
  server.on("connection", (socket) => {
    // Beyond the limit a connection gets an error as its answer; at twice the limit only addresses with few connections get one.
    if (accepted.size >= 2 * limits.httpConnectionsMax && !makeRoomFor(socket)) {
      observer.rejected("http", "connections");
      socket.destroy();
      return;
    }
    const peer = peerOf(socket);
    const connected: Accepted = { socket, address: socket.remoteAddress, deadline: undefined, http: undefined };
    if (options.tls !== undefined) connected.deadline = endWithoutRequest(connected);
    accepted.set(peer, connected);
    shares.add(connected.address, connected);
    observer.connections("http", accepted.size);
    socket.once("close", () => release(peer, connected));
    // node:http answers all requests that are rejected.
    if (fast === undefined) return;
    const connection = connect(socket);
    if (accepted.size <= limits.httpConnectionsMax || !shares.isExceeded(connected.address)) fast.serve(connection);
    else fast.handOver(connection);
  });
  if (fast === undefined) {
    server.on(options.tls ? "secureConnection" : "connection", (socket) => {
      if (!socket.destroyed) connect(socket).readInPieces();
    });
  }
  server.on("clientError", (error, socket) => {
    (connections.get(socket) ?? connect(socket as Socket)).failed(error);
  });
  // An answer would wait for a handshake that the other side need not end: whatever `clientError` wrote, the connection is over.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  /** @param socket the TLS socket where TLS is spoken */
  function connect(socket: Socket): HttpConnection {
    const connection = new HttpConnection(socket, limits, modules);
    const connected = accepted.get(peerOf(socket));
    if (connected !== undefined) {
      connected.http = connection;
      connection.deadline = connected.deadline;
    }
    connections.set(socket, connection);
    socket.once("close", () => forget(socket));
    return connection;
  }
  /**
   * The timeout of Node.js begins anew with each byte of a handshake, and after the handshake. On a busy machine a handshake can wait for seconds; handshake and first
   * request together have the time of a request.
   */
  function endWithoutRequest(connected: Accepted): Timer {
    return modules.timers.after(limits.httpHeadersTimeoutMs, "TLS connection without a request", () => {
      if (connected.http !== undefined) return connected.http.timedOut();
      observer.rejected("http", "timeout");
      connected.socket.destroy();
    });
  }
  /** Ends an idle connection of the address that holds most. */
  function makeRoomFor({ remoteAddress }: Socket): boolean {
    const replaced = shares.replaceableBy(remoteAddress, ({ http }) => http?.isBusy !== true);
    if (replaced === undefined) return false;
    release(peerOf(replaced.socket), replaced);
    replaced.socket.destroy();
    return true;
  }
  function forget(socket: Duplex) {
    connections.get(socket)?.close();
    connections.delete(socket);
  }
  /** It is closed, or another protocol's: it counts no longer. */
  function release(peer: string, connected: Accepted) {
    connected.deadline?.cancel();
    shares.delete(connected.address, connected);
    if (accepted.get(peer) !== connected) return;
    accepted.delete(peer);
    observer.connections("http", accepted.size);
    if (accepted.size === 0) onDrained();
  }
  if (acceptUpgrade) {
    server.on("upgrade", (request, socket, head) => {
      forget(socket);
      const peer = peerOf(request.socket);
      const connected = accepted.get(peer);
      if (connected !== undefined) release(peer, connected);
      resolveTarget(request);
      acceptUpgrade(request, socket, head);
    });
  }
  function accept(socket: Socket): void {
    server.emit("connection", socket);
    // A TLS server reads automatically.
    if (options.tls === undefined) socket.resume();
  }
  const listening =
    connectionWorkers === undefined
      ? server
      : createNetServer({ pauseOnConnect: true }, (socket) => {
          if (!connectionWorkers.handOver(kind, socket)) accept(socket);
        });
  // From then on node:http enforces timeouts and idle connections, including those that it did not accept itself.
  if (listening !== server || options.isHanded) server.emit("listening");
  if (!options.isHanded) await listen(listening, options);
  return {
    url: options.isHanded ? "" : listenerUrl(listening, options.host, `${kind}${options.tls ? "s" : ""}`),
    accept,
    setTls(tls) {
      if (options.tls !== undefined) (server as TlsServer).setSecureContext(secureContextOf(tls));
    },
    async close(graceMs = 5000) {
      if (listening !== server) listening.close();
      const drained = new Promise<void>((resolve) => {
        onDrained = resolve;
        if (accepted.size === 0) resolve();
      });
      await closeServer(server, fast, graceMs, drained, modules.timers);
    },
  };
}

/** A TCP connection, and what serves it once its handshake is done. */
type Accepted = {
  readonly socket: Socket;
  readonly address: string | undefined;
  /** Where TLS is spoken: the time until the head of its first request. */
  deadline: Timer | undefined;
  http: HttpConnection | undefined;
};

/** The same of a TCP socket and of the TLS socket over it. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function createTcpServer(tls: TlsMaterial | undefined, options: ServerOptions): Server {
  if (tls === undefined) return createServer(options);
  return createTlsServer({
    ...options,
    ...secureContextOf(tls),
    requestCert: tls.clientCa !== undefined,
    rejectUnauthorized: tls.clientCa !== undefined,
    handshakeTimeout: options.headersTimeout,
  });
}

function secureContextOf({ cert, key, clientCa }: TlsMaterial): SecureContextOptions & { readonly ticketKeys: Buffer } {
  return {
    cert,
    key,
    ...(clientCa !== undefined && { ca: clientCa }),
    minVersion: "TLSv1.2",
    // A client could make the server work for each of many handshakes on one connection.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    // A session that is resumed skips the check of the client's certificate: none outlives the bundle by which it was checked.
    ticketKeys: randomBytes(TICKET_KEY_BYTES),
  };
}

/** Makes plain calls bypass `server`, which goes on to serve every connection that is handed over to it. */
function putFastHttpBefore(
  server: Server,
  { access, allowedHosts, limits }: TcpListenerOptions,
  { dispatcher, observer, pipelined, compressor, timers }: HttpRequestModules,
): FastHttp & { readonly handOver: (connection: HttpConnection) => void } {
  // Removed from its event, node:http's own listener serves the connections it is called with.
  const serveHttp = server.listeners("connection") as ((socket: Socket) => void)[];
  server.removeAllListeners("connection");
  function handOver(connection: HttpConnection, unread?: Buffer): void {
    for (const listener of serveHttp) listener.call(server, connection.socket);
    connection.readInPieces(unread);
  }
  const caller = {
    transport: "http",
    access,
    credential: undefined,
    connection: undefined,
  } as const;
  let allowedHost: string | undefined;
  const fast = createFastHttp(
    { caller, limits, isTraced: observer.traceCall !== undefined, headersOf: replyHeaders },
    {
      dispatcher,
      pipelined,
      compressor,
      timers,
      admits({ host, contentType }) {
        if (host !== allowedHost) {
          if (!isHostAllowed(host, allowedHosts)) return false;
          allowedHost = host;
        }
        return isJson(contentType);
      },
      rejected: (reason) => observer.rejected("http", reason),
      handOver,
    },
  );
  return { ...fast, handOver };
}

function listen(server: NetServer, { host, port }: TcpListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function listenerUrl(server: NetServer, host: string, scheme: string): string {
  const { port } = server.address() as AddressInfo;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** @param drained settles once the last connection is gone: `server` counts only connections that it accepted itself */
async function closeServer(
  server: Server,
  fast: FastHttp | undefined,
  graceMs: number,
  drained: Promise<void>,
  timers: Timers,
): Promise<void> {
  const timer = timers.after(graceMs, "end of HTTP", () => {
    server.closeAllConnections();
    fast?.destroyAll();
  });
  // A connection whose call ends now stays open for a next one unless it is looked at again.
  const sweep = timers.every(IDLE_SWEEP_MS, "idle connections", () => server.closeIdleConnections());
  const closed = new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  server.closeIdleConnections();
  fast?.endIdle();
  await Promise.all([closed, drained]);
  fast?.close();
  timer.cancel();
  sweep.cancel();
}
