import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import type { Caller } from "../dispatch/context.ts";
import type { Reply } from "../dispatch/dispatcher.ts";
import {
  authenticateRequest,
  certifiedNameOf,
  credentialOf,
  rejectionOfCredential,
  rejectionOfSource,
  sourceOf,
} from "./admission.ts";
import { ConnectionShares } from "./connection-shares.ts";
import { endWithRejection, LINGER_BYTES, LINGER_MS } from "./http-rejection.ts";
import type { ListenerModules, TcpListenerOptions } from "./listener.ts";
import { type PiecewiseReading, readInPieces } from "./read-in-pieces.ts";
import { isRootPath, NOT_FOUND, TOO_MANY_CONNECTIONS } from "./rejection.ts";
import { lengthOf, type Piece } from "./send-queue.ts";
import { type CloseReason, SocketConnection } from "./socket-connection.ts";
import { FrameMeter, textFrameHead } from "./ws-frame.ts";

/** Serves WebSocket connections handed over by an HTTP server. */
export type WsAcceptor = {
  readonly acceptUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Closes every connection with 1001; those left after `graceMs` are terminated. */
  close(graceMs?: number): Promise<void>;
};

/** Close codes of RFC 6455 section 7.4.1 and of its registry. */
const GOING_AWAY = 1001;
const UNSUPPORTED_DATA = 1003;
const POLICY_VIOLATION = 1008;
const TRY_AGAIN_LATER = 1013;

const CLOSE_TEXTS: Readonly<Record<CloseReason, readonly [code: number, text: string]>> = {
  inputMemory: [TRY_AGAIN_LATER, "too much memory in requests"],
  outputMemory: [POLICY_VIOLATION, "too slow"],
  sendBuffer: [POLICY_VIOLATION, "too slow"],
  notifications: [POLICY_VIOLATION, "too slow"],
  capacity: [TRY_AGAIN_LATER, "over capacity"],
  replaced: [TRY_AGAIN_LATER, "too many connections"],
  tokenEnd: [POLICY_VIOLATION, "the token is no longer good"],
  timeout: [POLICY_VIOLATION, "message timeout"],
  message: [POLICY_VIOLATION, "message too large"],
  parse: [UNSUPPORTED_DATA, "parse error"],
};

/**
 * Fragments of one message, besides one for each 4 KB: single bytes would cost 10,000 fragments a read. It grows with
 * `bodyBytesMax`, which is a setting; nothing else about a client decides how it cuts its messages.
 */
const SMALL_FRAGMENTS_MAX = 1024;
const FRAGMENT_BYTES_MIN = 4096;

/** How long a client that is closed for a reason has to close its side. */
const CLOSE_MS = 1000;
/** Groups of connections that are pinged one after the other: 10,000 pings at once would delay everything else by 100 ms. */
const PING_TURNS = 20;

export function createWsAcceptor(options: TcpListenerOptions, modules: ListenerModules): WsAcceptor {
  const { limits } = options;
  const { observer, timers } = modules;
  const connections = new Set<WsConnection>();
  const shares = new ConnectionShares<WsConnection>(limits.wsConnectionsMax);
  // Compression costs memory for each connection: 10,000 of them would take 700 MB for one broadcast.
  const server = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: limits.bodyBytesMax,
    maxFragments: SMALL_FRAGMENTS_MAX + Math.ceil(limits.bodyBytesMax / FRAGMENT_BYTES_MIN),
    clientTracking: false,
  });
  let turn = 0;
  const pinger = timers.every(limits.wsPingIntervalMs / PING_TURNS, "WebSocket ping", () => {
    turn = (turn + 1) % PING_TURNS;
    for (const connection of connections) {
      try {
        connection.checkToken();
        if (connection.pingTurn === turn) connection.checkAlive();
      } catch (error) {
        modules.observer.failed("WebSocket ping", "internal", error);
        connection.terminate();
      }
    }
  });
  let opened = 0;

  function acceptUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const { remoteAddress } = request.socket;
    const notAdmitted = isRootPath(request.url) ? rejectionOfSource(request, options) : NOT_FOUND;
    const authentication = notAdmitted ? undefined : authenticateRequest(request, modules);
    const rejection =
      notAdmitted ??
      (authentication && rejectionOfCredential(authentication)) ??
      (hasRoomFor(remoteAddress) ? undefined : TOO_MANY_CONNECTIONS);
    if (rejection || !authentication) {
      observer.rejected("ws", rejection!.reason, rejection!.subject);
      endWithRejection(socket, rejection!, timers);
      return;
    }
    server.handleUpgrade(request, socket, head, (ws) => {
      const pingTurn = opened++ % PING_TURNS;
      const connection = new WsConnection({ ws, socket, pingTurn }, options, modules, {
        credential: credentialOf(authentication),
        source: sourceOf(request, certifiedNameOf(socket)),
      });
      connections.add(connection);
      shares.add(remoteAddress, connection);
      observer.connections("ws", connections.size);
      connection.onClose(() => {
        connections.delete(connection);
        shares.delete(remoteAddress, connection);
        observer.connections("ws", connections.size);
      });
    });
  }

  /** Where the limit is reached, the oldest connection of the address that holds most makes room for one that holds few. */
  function hasRoomFor(remoteAddress: string | undefined): boolean {
    if (connections.size < limits.wsConnectionsMax) return true;
    const replaced = shares.replaceableBy(remoteAddress, () => true);
    replaced?.replace();
    return replaced !== undefined;
  }

  async function close(graceMs = 1000): Promise<void> {
    pinger.cancel();
    const gone = [...connections].map(
      (connection) =>
        new Promise<void>((resolve) => {
          connection.onClose(resolve);
          connection.close(GOING_AWAY, "the node stops");
        }),
    );
    const timer = timers.after(graceMs, "end of WebSocket", () => {
      for (const connection of connections) connection.terminate();
    });
    await Promise.all(gone);
    timer.cancel();
  }

  return { acceptUpgrade, close };
}

type OpenSocket = {
  readonly ws: WebSocket;
  /** What `ws` reads from and writes to. */
  readonly socket: Duplex;
  readonly pingTurn: number;
};

class WsConnection extends SocketConnection {
  readonly #ws: WebSocket;
  /** The group of connections it is pinged with. */
  readonly pingTurn: number;
  readonly #meter = new FrameMeter();
  readonly #pieces: PiecewiseReading;
  readonly #needsToken: boolean;
  readonly #credential: Caller["credential"];
  #unsentAtCheck = 0;
  #isAlive = true;

  constructor(
    { ws, socket, pingTurn }: OpenSocket,
    { access, limits }: TcpListenerOptions,
    modules: ListenerModules,
    caller: Pick<Caller, "credential" | "source">,
  ) {
    super(socket, { transport: "ws", access, ...caller }, limits, modules);
    this.#ws = ws;
    this.pingTurn = pingTurn;
    this.#needsToken = access.isClosed === true;
    this.#credential = caller.credential;
    // web3.py and others send JSON in binary frames too.
    ws.on("message", (message) => this.received(message as Buffer));
    ws.on("pong", () => {
      this.#isAlive = true;
    });
    // ws closes the connection after an error (frame too large: 1009, bad UTF-8: 1007); "close" follows.
    ws.on("error", () => {
      modules.observer.rejected("ws", "frame");
      this.#drain();
    });
    ws.on("close", () => this.closed());
    this.#pieces = readInPieces(socket, () => this.readBegins());
    // Runs after the listener of `ws`, which emits the messages that a piece completes.
    socket.on("data", this.#measure);
  }

  readonly #measure = (chunk: Buffer): void => {
    this.#meter.push(chunk);
    this.#pieces.expect(this.#meter.payloadLeft);
    this.progressed(this.#meter.message, this.#meter.storedBytes);
  };

  /**
   * Reads on for a moment without looking at what comes: a connection closed over unread bytes is reset, and the close frame is
   * lost with it. A client that goes on sending is cut.
   */
  #drain(): void {
    this.closed();
    this.socket.off("data", this.#measure);
    let left = LINGER_BYTES;
    this.socket.on("data", (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) this.terminate();
    });
    this.modules.timers.after(LINGER_MS, "closing WebSocket", () => this.terminate());
  }

  /** If every call needs a token, subscriptions end with theirs, since no later call would check it. */
  checkToken(): void {
    if (this.#needsToken && this.#credential?.isExpired()) this.cut("tokenEnd");
  }

  /** Pings; a peer that did not answer the last ping, or has read no data since then, is gone. */
  checkAlive(): void {
    const unsent = this.unsentBytes;
    const isStuck = unsent > 0 && unsent === this.#unsentAtCheck;
    this.#unsentAtCheck = unsent;
    if (isStuck) {
      this.#lose("slowReader");
      return;
    }
    // Its pong cannot be read while reading is paused.
    if (this.isReadingPaused) return;
    if (!this.#isAlive) {
      this.#lose("silent");
      return;
    }
    this.#isAlive = false;
    this.#ws.ping();
  }

  /** Another address gets its place. */
  replace(): void {
    this.cut("replaced");
  }

  close(code: number, reason: string): void {
    this.#ws.close(code, reason);
  }

  terminate(): void {
    this.#ws.terminate();
  }

  protected writeReply({ parts }: Reply, written: () => void): void {
    if (parts.length === 1) {
      this.#ws.send(parts[0]!, { binary: false }, written);
      return;
    }
    // In one frame without joining the parts first, which together may be as large as a trace.
    const { socket } = this;
    const buffers = parts.map(toBuffer);
    socket.cork();
    socket.write(textFrameHead(lengthOf(buffers)), "latin1");
    for (const buffer of buffers.slice(0, -1)) socket.write(buffer);
    socket.write(buffers.at(-1) ?? "", written);
    socket.uncork();
  }

  /** Fragments of one message, between which pings and pongs may come. */
  protected framedPieces(pieces: readonly Piece[]): Piece[] {
    return pieces.map((piece, i) => {
      const fragment = { isFirst: i === 0, isLast: i === pieces.length - 1 };
      return [Buffer.from(textFrameHead(lengthOf(piece), fragment), "latin1"), ...piece];
    });
  }

  /**
   * A new head for a thousand subscribers is a thousand of these. So the frames go out in one write, past `ws`, whose `send`
   * writes head and message apart and costs a quarter more (`npm run bench -- subscribers`). Frames do not mix: without
   * compression `ws` hands each of its own to the socket whole, before `send`, `ping` or `close` return.
   */
  protected framed(messages: readonly string[]): string {
    let text = "";
    for (const message of messages) text += textFrameHead(message.length) + message;
    return text;
  }

  /** After a close frame nothing may follow. */
  protected isOpen(): boolean {
    return this.#ws.readyState === WebSocket.OPEN;
  }

  protected pauseReading(): void {
    this.#ws.pause();
  }

  protected resumeReading(): void {
    this.#ws.resume();
  }

  protected closeAfterParseError(): void {
    this.closeFor("parse");
  }

  /** The peer may not read: a close frame waits behind everything it has not read. */
  protected closeFor(reason: CloseReason): void {
    if (reason === "outputMemory") {
      this.terminate();
      return;
    }
    if (this.#ws.isPaused) this.#ws.resume();
    this.close(...CLOSE_TEXTS[reason]);
    this.modules.timers.after(CLOSE_MS, "closing WebSocket", () => this.terminate());
  }

  #lose(reason: string): void {
    this.modules.observer.rejected("ws", reason);
    this.terminate();
  }
}

function toBuffer(part: string | Uint8Array): Uint8Array {
  return typeof part === "string" ? Buffer.from(part) : part;
}
