import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { assertSocketPath } from "../home/home.ts";
import { type AbciRequest, decodeRequest, exceptionFrame, FrameReader, replyFrame } from "./frames.ts";
import type { CallName, Reply, Request } from "./messages.ts";

/** Handlers of ABCI's calls; the server itself answers `echo` and `flush`. */
export type AbciHandlers = {
  readonly [Name in Exclude<CallName, "echo" | "flush">]: (
    fields: Request<Name>,
  ) => Partial<Reply<Name>> | Promise<Partial<Reply<Name>>>;
};

type AbciServerOptions = {
  /** Path of the socket, at most 107 bytes. A stale file is removed. */
  readonly path: string;
  /** Called once the connection that drives consensus is gone or replaced. */
  readonly onEngineLost: () => void;
  /** Called with the error of a call. CometBFT exits when its connection ends. */
  readonly onFailure: (error: unknown, call: string) => void;
};

export type AbciServer = {
  /** Number of open connections. CometBFT opens four. */
  connections(): number;
  /** Ends all connections and removes the socket. */
  close(): Promise<void>;
};

/** CometBFT opens four; as many of a killed run may still be closing. */
export const CONNECTIONS_MAX = 16;

/** Replies are batched up to this size; the largest reply, a snapshot chunk, has four times as much. */
const BATCH_BYTES = 1 << 20;

type ConnectionEvents = Pick<AbciServerOptions, "onFailure"> & {
  /** Called before each consensus call. */
  readonly onConsensusCall: () => void;
};

/** Calls that only the consensus connection makes: connections carry no label. */
const CONSENSUS_CALLS: ReadonlySet<CallName> = new Set([
  "initChain",
  "prepareProposal",
  "processProposal",
  "finalizeBlock",
  "commit",
]);

/**
 * Listens where CometBFT dials. Replies of a connection are sent in the order of its requests, all available ones in one write: CometBFT waits
 * for the reply to the `flush` after each call.
 * @throws SocketPathTooLongError, and errors of listening
 */
export async function listenAbci(options: AbciServerOptions, handlers: AbciHandlers): Promise<AbciServer> {
  const { path } = options;
  assertSocketPath(path);
  rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  /** The connection of the newest consensus call. */
  let driver: AbciConnection | undefined;
  const server = createServer((socket) => {
    sockets.add(socket);
    const connection = new AbciConnection(socket, handlers, {
      onFailure: options.onFailure,
      onConsensusCall() {
        if (driver === connection) return;
        const replaced = driver;
        driver = connection;
        if (replaced === undefined) return;
        // Its CometBFT is gone, and its end may become visible only after the new one has begun a block.
        replaced.replace();
        options.onEngineLost();
      },
    });
    socket.on("close", () => {
      sockets.delete(socket);
      if (driver !== connection) return;
      driver = undefined;
      options.onEngineLost();
    });
  });
  server.maxConnections = CONNECTIONS_MAX;
  await listen(server, path);
  chmodSync(path, 0o600);
  return {
    connections: () => sockets.size,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
      rmSync(path, { force: true });
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/**
 * One of CometBFT's connections: requests in, replies in the same order. It reads nothing while a reply is computed or waits to be sent, so it
 * holds the requests of one read and the replies of one write.
 */
class AbciConnection {
  readonly #socket: Socket;
  readonly #handlers: AbciHandlers;
  readonly #events: ConnectionEvents;
  readonly #frames = new FrameReader();
  readonly #requests: AbciRequest[] = [];
  /** Requests are being answered, or the connection has failed. */
  #isBusy = false;

  constructor(socket: Socket, handlers: AbciHandlers, events: ConnectionEvents) {
    this.#socket = socket;
    this.#handlers = handlers;
    this.#events = events;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    // The supervisor sees CometBFT exit; "close" follows every error.
    socket.on("error", () => {});
  }

  /** Answers nothing more: another connection drives consensus. */
  replace(): void {
    this.#requests.length = 0;
    this.#isBusy = true;
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    try {
      for (const body of this.#frames.push(chunk)) this.#requests.push(decodeRequest(body));
    } catch (error) {
      this.#fail(error, "request");
      return;
    }
    if (!this.#isBusy) this.#run();
  }

  /** Answers received requests; continues once a promise settles, or once replies were sent. */
  #run(): void {
    this.#isBusy = true;
    const replies: Uint8Array[] = [];
    let bytes = 0;
    for (let request = this.#requests.shift(); request; request = this.#requests.shift()) {
      const { call } = request;
      let reply: Uint8Array | Promise<Uint8Array>;
      try {
        reply = this.#reply(request);
      } catch (error) {
        this.#write(replies);
        this.#fail(error, call);
        return;
      }
      if (reply instanceof Promise) {
        this.#write(replies);
        this.#socket.pause();
        reply.then(
          (frame) => this.#continueAfter([frame]),
          (error) => this.#fail(error, call),
        );
        return;
      }
      replies.push(reply);
      bytes += reply.length;
      if (bytes >= BATCH_BYTES) break;
    }
    this.#continueAfter(replies);
  }

  /** Writes `replies` and continues once they are sent. */
  #continueAfter(replies: readonly Uint8Array[]): void {
    const socket = this.#socket;
    this.#write(replies);
    if (socket.writableNeedDrain) {
      socket.pause();
      socket.once("drain", () => this.#run());
    } else if (this.#requests.length > 0) this.#run();
    else {
      this.#isBusy = false;
      if (socket.isPaused()) socket.resume();
    }
  }

  #reply(request: AbciRequest): Uint8Array | Promise<Uint8Array> {
    const { call, fields } = request;
    if (call === "flush") return replyFrame("flush", {});
    if (call === "echo") return replyFrame("echo", fields);
    if (CONSENSUS_CALLS.has(call)) this.#events.onConsensusCall();
    const handle = this.#handlers[call] as (fields: unknown) => object | Promise<object>;
    const reply = handle(fields);
    return reply instanceof Promise ? reply.then((fields) => replyFrame(call, fields)) : replyFrame(call, reply);
  }

  #write(replies: readonly Uint8Array[]): void {
    if (replies.length > 0 && !this.#socket.destroyed) this.#socket.write(Buffer.concat(replies));
  }

  /** Sends CometBFT the reason for its log, except for a commit: any reply could be taken for an acknowledgement. */
  #fail(error: unknown, call: string): void {
    this.#requests.length = 0;
    this.#isBusy = true;
    const text = error instanceof Error ? error.message : String(error);
    if (call === "commit") this.#socket.destroy();
    else this.#socket.end(exceptionFrame(text), () => this.#socket.destroy());
    this.#events.onFailure(error, call);
  }
}
