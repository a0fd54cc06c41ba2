import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import type { Credential } from "../auth/credential.ts";
import { type Caller, type Connection, RequestContext } from "../dispatch/context.ts";
import type { Reply } from "../dispatch/dispatcher.ts";
import { hasOneHost, type ListenerModules, type ListenerOptions } from "./http.ts";
import { isHostAllowed, isOriginAllowed } from "./origin.ts";
import {
  authenticateRequest,
  credentialOf,
  type Refusal,
  refusalBody,
  whyNotAuthentic,
} from "./refusal.ts";
import { textFrameHead } from "./ws-frame.ts";

/** Takes WebSocket connections handed over by an HTTP server. */
export type WsAcceptor = {
  readonly acceptUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Closes every connection with 1001; what is left after `graceMs` is cut. */
  close(graceMs?: number): Promise<void>;
};

/** RFC 6455: the server goes away; the peer does not keep to the rules, which is to read. */
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;
const UNSUPPORTED_DATA = 1003;
/** Groups of connections that are pinged one after the other: 10,000 pings at once would hold up everything else for 100 ms. */
const PING_TURNS = 20;

export function createWsAcceptor(options: ListenerOptions, modules: ListenerModules): WsAcceptor {
  const { limits } = options;
  const { observer } = modules;
  const connections = new Set<WsConnection>();
  // Compression costs memory by connection: 10,000 of them would take 700 MB for one broadcast.
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: limits.wsMessageBytesMax,
    clientTracking: false,
  });
  let turn = 0;
  const pinger = setInterval(() => {
    turn = (turn + 1) % PING_TURNS;
    for (const connection of connections) {
      if (connection.pingTurn === turn) connection.checkAlive();
    }
  }, limits.wsPingIntervalMs / PING_TURNS);
  pinger.unref();
  let opened = 0;

  function acceptUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const refuse = (status: number, reason: string, message: string, headers = {}) => {
      observer.refused("ws", reason);
      refuseUpgrade(socket, { status, reason, message, headers });
    };
    const { host, origin } = request.headers;
    if (!hasOneHost(request)) {
      refuse(400, "host", "invalid host specified");
      return;
    }
    if (!isHostAllowed(host, options.allowedHosts)) {
      refuse(403, "host", "invalid host specified");
      return;
    }
    if (!isOriginAllowed(origin, host, options.allowedOrigins)) {
      refuse(403, "origin", "origin not allowed");
      return;
    }
    if (connections.size >= limits.wsConnectionsMax) {
      refuse(503, "connections", "too many connections");
      return;
    }
    const authentication = authenticateRequest(request, modules);
    const unauthentic = whyNotAuthentic(authentication);
    if (unauthentic) {
      const { status, reason, message, headers } = unauthentic;
      refuse(status, reason, message, headers);
      return;
    }
    server.handleUpgrade(request, socket, head, (ws) => {
      const credential = credentialOf(authentication);
      const pingTurn = opened++ % PING_TURNS;
      const connection = new WsConnection({ ws, socket, pingTurn }, options, modules, credential);
      connections.add(connection);
      observer.connections("ws", connections.size);
      connection.onClose(() => {
        connections.delete(connection);
        observer.connections("ws", connections.size);
      });
    });
  }

  async function close(graceMs = 1000): Promise<void> {
    clearInterval(pinger);
    const gone = [...connections].map(
      (connection) =>
        new Promise<void>((resolve) => {
          connection.onClose(resolve);
          connection.close(GOING_AWAY, "the node stops");
        }),
    );
    const timer = setTimeout(() => {
      for (const connection of connections) connection.terminate();
    }, graceMs);
    await Promise.all(gone);
    clearTimeout(timer);
  }

  return { acceptUpgrade, close };
}

/** One client: its calls run at the same time, its answers go out as they are ready. */
class WsConnection implements Connection {
  readonly #ws: WebSocket;
  /** Which part of the connections it is pinged with. */
  readonly pingTurn: number;
  /** What `ws` writes to as well. */
  readonly #socket: Duplex;
  readonly #options: ListenerOptions;
  readonly #modules: ListenerModules;
  readonly #caller: Caller;
  readonly #running = new Set<RequestContext>();
  /** What came in one packet with messages that have to be answered first. */
  readonly #held: Buffer[] = [];
  readonly #closeTasks: (() => void)[] = [];
  /** Those told since nothing was waiting to be sent: no fewer than wait now. */
  #notificationBytes = 0;
  #bufferedAtCheck = 0;
  #isAlive = true;
  #isServingHeld = false;
  #isClosed = false;

  constructor(
    {
      ws,
      socket,
      pingTurn,
    }: { readonly ws: WebSocket; readonly socket: Duplex; readonly pingTurn: number },
    options: ListenerOptions,
    modules: ListenerModules,
    credential: Credential | undefined,
  ) {
    this.#ws = ws;
    this.#socket = socket;
    this.pingTurn = pingTurn;
    this.#options = options;
    this.#modules = modules;
    this.#caller = { transport: "ws", access: options.access, credential, connection: this };
    ws.on("message", (message, isBinary) => this.#receive(message, isBinary));
    ws.on("pong", () => {
      this.#isAlive = true;
    });
    // ws closes by itself after an error (frame too large: 1009, bad UTF-8: 1007); "close" follows.
    ws.on("error", () => modules.observer.refused("ws", "frame"));
    ws.on("close", () => this.#closed());
  }

  notify(json: string): void {
    // Behind a close frame nothing may follow.
    if (this.#isClosed || this.#ws.readyState !== WebSocket.OPEN) return;
    const unsent = this.#socket.writableLength;
    this.#notificationBytes = (unsent === 0 ? 0 : this.#notificationBytes) + json.length;
    const unsentNotifications = Math.min(this.#notificationBytes, unsent + json.length);
    if (unsentNotifications > this.#options.limits.notificationBufferBytesMax) {
      this.#cut("notifications");
      return;
    }
    // A new head for a thousand subscribers is a thousand of these. So the frame goes out in one write, past `ws`, whose `send`
    // writes head and message apart and costs a quarter more (`npm run bench -- subscribers`). Frames do not mix: without
    // compression `ws` hands each of its own to the socket whole, before `send`, `ping` or `close` return.
    this.#socket.write(textFrameHead(json.length) + json, "latin1");
  }

  onClose(task: () => void): void {
    if (this.#isClosed) task();
    else this.#closeTasks.push(task);
  }

  /** Pings; a peer that did not answer the last ping, or read nothing of what is waiting for it, is gone. */
  checkAlive(): void {
    const { bufferedAmount, isPaused } = this.#ws;
    const isStuck = bufferedAmount > 0 && bufferedAmount === this.#bufferedAtCheck;
    this.#bufferedAtCheck = bufferedAmount;
    if (isStuck) {
      this.#lose("slowReader");
      return;
    }
    // Its pong could not be read while we hold it back.
    if (isPaused) return;
    if (!this.#isAlive) {
      this.#lose("silent");
      return;
    }
    this.#isAlive = false;
    this.#ws.ping();
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #receive(message: RawData, isBinary: boolean): void {
    // A connection that is cut may still have packets on their way here.
    if (this.#isClosed) return;
    if (isBinary) this.close(UNSUPPORTED_DATA, "text frames only");
    else if (this.#ws.isPaused) this.#held.push(message as Buffer);
    else this.#dispatch(message as Buffer);
  }

  #dispatch(message: Buffer): void {
    const context = new RequestContext(this.#caller);
    const reply = this.#modules.dispatcher.dispatch(message, context);
    if (!(reply instanceof Promise)) {
      this.#reply(reply, context);
      return;
    }
    this.#running.add(context);
    this.#holdBack();
    void reply.then((done) => {
      this.#running.delete(context);
      this.#reply(done, context);
    });
  }

  #reply(reply: Reply | undefined, context: RequestContext): void {
    if (this.#isClosed) return;
    if (reply) {
      const { parts } = reply;
      const only = parts.length === 1 ? parts[0]! : undefined;
      this.#ws.send(only ?? Buffer.concat(parts.map(toBuffer)), { binary: false }, () =>
        this.#holdBack(),
      );
    }
    context.replied();
    if (reply?.isParseError) {
      this.close(UNSUPPORTED_DATA, "parse error");
      return;
    }
    if (this.#ws.bufferedAmount > this.#options.limits.socketSendBufferBytesMax) {
      this.#cut("sendBuffer");
      return;
    }
    this.#holdBack();
  }

  /** Reads on only while the client reads too and not too many of its calls are open. */
  #holdBack(): void {
    const isBusy = this.#isBusy();
    if (isBusy === this.#ws.isPaused || this.#ws.readyState !== WebSocket.OPEN) return;
    if (isBusy) this.#ws.pause();
    else if (this.#held.length === 0) this.#ws.resume();
    else if (!this.#isServingHeld) this.#serveHeld();
  }

  #isBusy(): boolean {
    const { limits } = this.#options;
    return (
      this.#running.size >= limits.socketCallsMax ||
      this.#ws.bufferedAmount > limits.socketPauseBytes
    );
  }

  #serveHeld(): void {
    this.#isServingHeld = true;
    while (this.#held.length > 0 && !this.#isClosed && !this.#isBusy()) {
      this.#dispatch(this.#held.shift()!);
    }
    this.#isServingHeld = false;
    this.#holdBack();
  }

  /** Nobody is there to be told. */
  #lose(reason: string): void {
    this.#modules.observer.refused("ws", reason);
    this.terminate();
  }

  /** The peer does not read: a close frame would wait behind everything it has not read. */
  #cut(reason: string): void {
    this.#modules.observer.refused("ws", reason);
    this.close(POLICY_VIOLATION, "too slow");
    this.#closed();
    setTimeout(() => this.terminate(), 1000).unref();
  }

  #closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#held.length = 0;
    for (const context of this.#running) context.abort();
    for (const task of this.#closeTasks.splice(0)) task();
  }
}

/** Answers an upgrade as an HTTP request, and closes. */
export function refuseUpgrade(socket: Duplex, { status, message, headers }: Refusal): void {
  const body = refusalBody(status, message);
  socket.write(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      "connection: close",
      ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
      "content-type: application/json",
      `content-length: ${Buffer.byteLength(body)}`,
      "",
      body,
    ].join("\r\n"),
  );
  // Only half closed it would stay as long as the client likes, and nobody counts it any more.
  (socket as Socket).destroySoon();
}

function toBuffer(part: string | Uint8Array): Uint8Array {
  return typeof part === "string" ? Buffer.from(part) : part;
}
