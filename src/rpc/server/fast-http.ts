import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { type Caller, RequestContext } from "../dispatch/context.ts";
import type { Dispatcher, Reply } from "../dispatch/dispatcher.ts";
import type { JsonPart } from "../params/codec.ts";
import type { RpcLimits } from "./limits.ts";
import { recognisePlainCall } from "./plain-call.ts";

export type FastHttpOptions = {
  /** Who calls: nobody with a credential does it here. */
  readonly caller: Caller;
  readonly limits: RpcLimits;
  /** Headers of every answer besides its length, by status. */
  readonly headersOf: (reply: Reply | undefined) => Readonly<Record<string, string>>;
};

export type FastHttpModules = {
  readonly dispatcher: Dispatcher;
  /** What a call's headers must hold; any other one is handed over, to be refused where refusals are made. */
  readonly admits: (call: { readonly host: string; readonly contentType: string }) => boolean;
  /** Counts a connection that is cut. */
  readonly refused: (reason: string) => void;
  /** Gives the connection to the complete server, which reads on with `unread`. */
  readonly handOver: (socket: Socket, unread: Buffer) => void;
};

/** The connections that are still here. */
export type FastHttp = {
  readonly serve: (socket: Socket) => void;
  /** Ends what is idle; a connection with a call running ends behind its answer. */
  readonly endIdle: () => void;
  readonly destroyAll: () => void;
};

/**
 * Answers plain calls straight from the socket, which costs a third of what node:http takes for one. Whatever else arrives,
 * be it a request in two pieces, goes with its connection to the complete server for good: nothing here waits for bytes,
 * so there is nothing to be kept waiting with.
 */
export function createFastHttp(options: FastHttpOptions, modules: FastHttpModules): FastHttp {
  const connections = new Set<FastConnection>();
  const writeHead = createHeadWriter(options);
  let answered: FastConnection[] = [];
  let isScheduled = false;

  /**
   * Answers are written once everything that came in together is dealt with. A write may have to wake its reader, which takes
   * longer than most calls; to write one behind the other wakes a process that reads several of the connections once, not
   * for each.
   */
  function writeThisTurn(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(writeAll);
  }

  function writeAll(): void {
    isScheduled = false;
    const ready = answered;
    answered = [];
    for (const connection of ready) connection.writeAnswer();
  }

  function writeSoon(connection: FastConnection): void {
    answered.push(connection);
    writeThisTurn();
  }

  const writing = { writeHead, writeThisTurn, writeSoon };
  return {
    serve(socket) {
      const connection = new FastConnection(socket, options, modules, writing);
      connections.add(connection);
      connection.onGone = () => connections.delete(connection);
    },
    endIdle() {
      for (const connection of connections) connection.endWhenIdle();
    },
    destroyAll() {
      for (const connection of connections) connection.destroy();
    },
  };
}

type HeadWriter = (reply: Reply | undefined, length: number) => string;

/** How connections write. */
type Writing = {
  readonly writeHead: HeadWriter;
  /** To be called before a call runs: what that puts off until later in this turn, a block say, then comes behind the answers. */
  readonly writeThisTurn: () => void;
  /** Has `writeAnswer` called before this turn of the event loop ends. */
  readonly writeSoon: (connection: FastConnection) => void;
};

const NOTHING = Buffer.alloc(0);

class FastConnection {
  onGone: () => void = () => {};
  readonly #socket: Socket;
  readonly #options: FastHttpOptions;
  readonly #modules: FastHttpModules;
  readonly #writing: Writing;
  /** The call that runs; what arrives behind it waits. */
  #running: RequestContext | undefined;
  /** Not yet written; what arrives behind its call waits. */
  #answer: { readonly reply: Reply | undefined; readonly context: RequestContext } | undefined;
  /** The client has to read before it is answered again. */
  #isDraining = false;
  /** At most what two reads bring. */
  #unread: Buffer = NOTHING;
  #isEnding = false;
  #hasCalled = false;

  constructor(
    socket: Socket,
    options: FastHttpOptions,
    modules: FastHttpModules,
    writing: Writing,
  ) {
    this.#socket = socket;
    this.#options = options;
    this.#modules = modules;
    this.#writing = writing;
    socket.on("data", this.#received);
    socket.on("end", this.#clientEnded);
    socket.on("timeout", this.#timedOut);
    socket.on("error", this.destroy);
    socket.on("close", this.#closed);
    socket.setTimeout(options.limits.httpHeadersTimeoutMs);
  }

  endWhenIdle(): void {
    this.#isEnding = true;
    if (!this.#isBusy()) this.#socket.end();
  }

  readonly destroy = (): void => {
    this.#socket.destroy();
  };

  #isBusy(): boolean {
    return this.#running !== undefined || this.#answer !== undefined || this.#isDraining;
  }

  /** As node:http has it, whoever ends its side does not wait for a running call. */
  readonly #clientEnded = (): void => {
    if (this.#running !== undefined) this.#socket.destroy();
    else this.endWhenIdle();
  };

  readonly #closed = (): void => {
    this.#running?.abort();
    this.onGone();
  };

  readonly #timedOut = (): void => {
    if (this.#isBusy()) return;
    if (!this.#hasCalled) this.#modules.refused("timeout");
    this.#socket.destroy();
  };

  readonly #received = (bytes: Buffer): void => {
    if (this.#isBusy()) {
      this.#unread = Buffer.concat([this.#unread, bytes]);
      this.#socket.pause();
    } else this.#takeCalls(bytes);
  };

  #takeCalls(bytes: Buffer): void {
    const { caller, limits } = this.#options;
    const { dispatcher, admits } = this.#modules;
    let at = 0;
    while (at < bytes.length) {
      const call = recognisePlainCall(bytes, at, limits.bodyBytesMax);
      if (call === undefined || !admits(call)) {
        this.#handOver(bytes.subarray(at));
        return;
      }
      at = call.end;
      if (!this.#hasCalled) {
        this.#hasCalled = true;
        this.#socket.setTimeout(limits.httpIdleTimeoutMs);
      }
      const context = new RequestContext(caller);
      this.#writing.writeThisTurn();
      const reply = dispatcher.dispatch(bytes.subarray(call.bodyStart, call.end), context);
      if (reply instanceof Promise) {
        this.#running = context;
        void reply.then((done) => {
          this.#running = undefined;
          this.#answerSoon(done, context);
        });
      } else if (at < bytes.length) this.#write(reply, context);
      else this.#answerSoon(reply, context);
      if (this.#socket.destroyed) return;
      if (this.#isBusy()) {
        this.#unread = bytes.subarray(at);
        return;
      }
    }
  }

  #goOn(): void {
    const socket = this.#socket;
    if (this.#isBusy() || socket.destroyed) return;
    if (this.#isEnding) {
      socket.end();
      return;
    }
    const unread = this.#unread;
    this.#unread = NOTHING;
    this.#takeCalls(unread);
    if (!this.#isBusy() && socket.isPaused()) socket.resume();
  }

  #answerSoon(reply: Reply | undefined, context: RequestContext): void {
    this.#answer = { reply, context };
    this.#writing.writeSoon(this);
  }

  writeAnswer(): void {
    const answer = this.#answer;
    this.#answer = undefined;
    if (answer) this.#write(answer.reply, answer.context);
    this.#goOn();
  }

  #write(reply: Reply | undefined, context: RequestContext): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    writeReply(socket, reply?.parts ?? [], (length) => this.#writing.writeHead(reply, length));
    if (socket.writableNeedDrain && socket.writableLength > 0) this.#drain();
    context.replied();
  }

  /** Waits until the client has read what it was sent, but not for ever. */
  #drain(): void {
    this.#isDraining = true;
    const socket = this.#socket;
    const timer = setTimeout(() => {
      this.#modules.refused("slowReader");
      socket.destroy();
    }, this.#options.limits.httpReplyTimeoutMs);
    socket.once("close", () => clearTimeout(timer));
    socket.once("drain", () => {
      clearTimeout(timer);
      this.#isDraining = false;
      this.#goOn();
    });
  }

  #handOver(unread: Buffer): void {
    const socket = this.#socket;
    socket.off("data", this.#received);
    socket.off("end", this.#clientEnded);
    socket.off("timeout", this.#timedOut);
    socket.off("error", this.destroy);
    socket.off("close", this.#closed);
    socket.setTimeout(0);
    this.onGone();
    this.#modules.handOver(socket, unread);
  }
}

/** Writes head and parts in one system call. */
function writeReply(
  socket: Socket,
  parts: readonly JsonPart[],
  headOf: (length: number) => string,
): void {
  const [first = ""] = parts;
  if (parts.length <= 1 && typeof first === "string") {
    const length = Buffer.byteLength(first);
    // Text of one byte a character is copied as it is.
    socket.write(headOf(length) + first, length === first.length ? "latin1" : "utf8");
    return;
  }
  let length = 0;
  for (const part of parts) {
    length += typeof part === "string" ? Buffer.byteLength(part) : part.length;
  }
  socket.cork();
  socket.write(headOf(length), "latin1");
  for (const part of parts) socket.write(part);
  socket.uncork();
}

/** Everything of a head but the length and a date no older than a second is always the same. */
function createHeadWriter({ headersOf, limits }: FastHttpOptions): HeadWriter {
  const keepAlive = `timeout=${Math.floor(limits.httpIdleTimeoutMs / 1000)}`;
  const common = { connection: "keep-alive", "keep-alive": keepAlive };
  let second = 0;
  let success = "";

  function headFor(reply: Reply | undefined): string {
    const status = reply?.isUnauthorized ? 401 : 200;
    const date = new Date(second * 1000).toUTCString();
    const fields = Object.entries({ ...headersOf(reply), date, ...common });
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
    return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}content-length: `;
  }

  return (reply, length) => {
    const now = Math.floor(Date.now() / 1000);
    if (now !== second) {
      second = now;
      success = headFor(undefined);
    }
    return `${reply?.isUnauthorized ? headFor(reply) : success}${length}\r\n\r\n`;
  };
}
