import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Timer, Timers } from "../../../base/telemetry/timers.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import type { ComingWork } from "../dispatch/call-queue.ts";
import { type Caller, type CallSource, RequestContext } from "../dispatch/context.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import type { RpcLimits } from "../limits.ts";
import { type ClientPlace, placeOfAddress, type ReplyCompressor, type SentReply } from "./compression.ts";
import type { HttpConnection } from "./http-connection.ts";
import { replyBytes } from "./http-request.ts";
import { PlainCallReader } from "./plain-call.ts";

export type FastHttpOptions = {
  /** Without a credential: a call that has one is handed over. */
  readonly caller: Caller;
  readonly limits: RpcLimits;
  /** Calls are traced: their callers' `traceparent` is read. */
  readonly isTraced: boolean;
  /** Headers of every answer besides its length, by status. */
  readonly headersOf: (reply: SentReply | undefined) => Readonly<Record<string, string>>;
};

export type FastHttpModules = {
  readonly dispatcher: Pick<Dispatcher<unknown>, "dispatch" | "beforeWork">;
  readonly pipelined: SharedSlices;
  readonly compressor: ReplyCompressor;
  readonly timers: Timers;
  /** What a call's headers must hold; any other call is handed over, to be rejected there. */
  readonly admits: (call: { readonly host: string; readonly contentType: string }) => boolean;
  /** Counts a connection that is closed for its behavior. */
  readonly rejected: (reason: string) => void;
  /** Hands the connection over to node:http, which reads on with `unread`. */
  readonly handOver: (connection: HttpConnection, unread: Buffer) => void;
};

/** Some ten heavy calls that are short: their clients are woken up together. */
const HELD_MS = 0.5;

/** The connections that are not handed over yet. */
export type FastHttp = {
  readonly serve: (connection: HttpConnection) => void;
  /** Ends idle connections; one with a call running ends after its answer. */
  readonly endIdle: () => void;
  readonly destroyAll: () => void;
  /** Call it once the last connection has ended and no more will come. */
  readonly close: () => void;
};

/**
 * Answers plain calls straight from the socket, at a third of node:http's cost. A connection on which anything else arrives, even a
 * request in two pieces, is handed over to node:http permanently: nothing here waits for bytes, so no incomplete request needs a limit.
 */
export function createFastHttp(options: FastHttpOptions, modules: FastHttpModules): FastHttp {
  const connections = new Set<FastConnection>();
  const writeHead = createHeadWriter(options);
  let answered: FastConnection[] = [];
  /** Those of `answered` that are written, the first ones. */
  let written = 0;
  /** Of the first that is not written, when a heavy call began after it. */
  let heldSinceMs: number | undefined;
  let isScheduled = false;
  const writeAllSoon = modules.timers.deferred("answers over HTTP", writeAll);

  /**
   * Answers are written after everything that arrived in one turn is executed. A write may have to wake its reader, which takes
   * longer than most calls; writes in a row wake a process that reads several of the connections once, not for each.
   */
  function writeThisTurn(): void {
    if (isScheduled) return;
    isScheduled = true;
    writeAllSoon();
  }

  function writeAll(): void {
    isScheduled = false;
    const ready = answered;
    answered = [];
    written = 0;
    heldSinceMs = undefined;
    for (const connection of ready) connection.endAnswer();
  }

  /**
   * A short call does not wait for a long one that arrived after it, nor for one whose turn comes before the end of this one; and for no longer than
   * `HELD_MS` for heavy calls that are short.
   */
  function writeEarly({ nowMs, isLong }: ComingWork): void {
    if (written === answered.length) return;
    heldSinceMs ??= nowMs;
    if (!isLong && nowMs - heldSinceMs < HELD_MS) return;
    heldSinceMs = undefined;
    while (written < answered.length) answered[written++]!.writeAnswer();
  }

  function writeSoon(connection: FastConnection): void {
    answered.push(connection);
    writeThisTurn();
  }

  const writing = { writeHead, writeThisTurn, writeSoon };
  const close = modules.dispatcher.beforeWork(writeEarly);
  return {
    close,
    serve(http) {
      const connection = new FastConnection(http, options, modules, writing);
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

type HeadWriter = (reply: SentReply | undefined, length: number) => string;

/** How connections write. */
type Writing = {
  readonly writeHead: HeadWriter;
  /** To be called before a call runs: work it defers to the end of this turn, a block say, is done after the answers. */
  readonly writeThisTurn: () => void;
  /** Has `endAnswer` called before this turn of the event loop ends, and `writeAnswer` perhaps before that. */
  readonly writeSoon: (connection: FastConnection) => void;
};

const NOTHING = Buffer.alloc(0);

class FastConnection {
  onGone: () => void = () => {};
  readonly #http: HttpConnection;
  readonly #socket: Socket;
  readonly #options: FastHttpOptions;
  readonly #caller: Caller & { readonly source: CallSource };
  readonly #place: ClientPlace;
  readonly #modules: FastHttpModules;
  readonly #writing: Writing;
  readonly #calls: PlainCallReader;
  /** The call that runs; what arrives after it waits. */
  #running: RequestContext | undefined;
  /** Until the end of the turn; what arrives after its call waits. */
  #answer: { readonly reply: SentReply | undefined; readonly context: RequestContext } | undefined;
  #isWritten = false;
  /** The client has to read before it is answered again. */
  #isDraining = false;
  /** Its next calls wait for a later turn. */
  #isYielding = false;
  /** At most two reads. */
  #unread: Buffer = NOTHING;
  #isEnding = false;
  #hasCalled = false;
  /** When it last read or wrote, by the clock of `Timers`. */
  #activeAtMs: number;
  #idle: Timer;

  constructor(http: HttpConnection, options: FastHttpOptions, modules: FastHttpModules, writing: Writing) {
    const { socket } = http;
    this.#http = http;
    http.isCalling = () => this.#isBusy();
    this.#socket = socket;
    this.#options = options;
    const remoteAddress = socket.remoteAddress ?? "unknown";
    this.#place = placeOfAddress(remoteAddress);
    this.#caller = { ...options.caller, source: { remoteAddress, apiKey: undefined, certified: undefined } };
    this.#modules = modules;
    this.#writing = writing;
    this.#calls = new PlainCallReader(options.limits.bodyBytesMax, options.isTraced);
    socket.on("data", this.#received);
    socket.on("end", this.#clientEnded);
    socket.on("error", this.destroy);
    socket.on("close", this.#closed);
    this.#activeAtMs = modules.timers.now();
    this.#idle = this.#lookAfter(options.limits.httpHeadersTimeoutMs);
  }

  endWhenIdle(): void {
    this.#isEnding = true;
    if (!this.#isBusy()) this.#socket.end();
  }

  readonly destroy = (): void => {
    this.#socket.destroy();
  };

  #isBusy(): boolean {
    return this.#running !== undefined || this.#answer !== undefined || this.#isDraining || this.#isYielding;
  }

  /** As in node:http, a client that ends its side does not wait for a running call. */
  readonly #clientEnded = (): void => {
    if (this.#running !== undefined) this.#socket.destroy();
    else this.endWhenIdle();
  };

  readonly #closed = (): void => {
    this.#idle.cancel();
    this.#running?.abort();
    this.onGone();
  };

  #lookAfter(ms: number): Timer {
    return this.#modules.timers.after(ms, "idle connection", () => this.#closeIfIdle());
  }

  /** Looks again when it would have been idle for long enough: a timer that each call sets anew costs more than a look at the clock. */
  #closeIfIdle(): void {
    const { httpHeadersTimeoutMs, httpIdleTimeoutMs } = this.#options.limits;
    const idleMsMax = this.#hasCalled ? httpIdleTimeoutMs : httpHeadersTimeoutMs;
    const leftMs = this.#activeAtMs + idleMsMax - this.#modules.timers.now();
    if (leftMs > 0 || this.#isBusy()) {
      this.#idle = this.#lookAfter(leftMs > 0 ? leftMs : idleMsMax);
      return;
    }
    if (!this.#hasCalled) this.#modules.rejected("timeout");
    this.#socket.destroy();
  }

  readonly #received = (bytes: Buffer): void => {
    this.#activeAtMs = this.#modules.timers.now();
    if (this.#isEnding) return;
    if (this.#isBusy()) {
      this.#unread = Buffer.concat([this.#unread, bytes]);
      this.#socket.pause();
      this.#charge();
    } else this.#takeCalls(bytes);
  };

  #takeCalls(bytes: Buffer): void {
    const { dispatcher, admits, compressor } = this.#modules;
    let at = 0;
    while (at < bytes.length) {
      const call = this.#calls.read(bytes, at);
      if (call === undefined || !admits(call)) {
        this.#handOver(bytes.subarray(at));
        return;
      }
      at = call.end;
      if (!this.#hasCalled) {
        this.#hasCalled = true;
        this.#idle.cancel();
        this.#idle = this.#lookAfter(this.#options.limits.httpIdleTimeoutMs);
      }
      const context = new RequestContext(this.#caller);
      context.traceparent = call.traceparent;
      this.#writing.writeThisTurn();
      const answer = dispatcher.dispatch(bytes.subarray(call.bodyStart, call.end), context);
      const reply = call.wantsGzip ? compressor.compressed(answer, this.#place) : answer;
      if (reply instanceof Promise) {
        this.#running = context;
        this.#charge();
        void reply.then((done) => {
          this.#running = undefined;
          this.#http.input.set(0);
          this.#answerSoon(done, context);
        });
      } else if (at < bytes.length) {
        this.#write(reply);
        context.replied();
        this.#yieldToOthers();
      } else this.#answerSoon(reply, context);
      if (this.#socket.destroyed) return;
      if (this.#isBusy()) {
        this.#unread = bytes.subarray(at);
        if (this.#running || this.#isYielding) this.#charge();
        return;
      }
    }
  }

  /** The call that runs, and the bytes that wait for its end. */
  #charge(): void {
    this.#http.input.set((this.#running?.inputBytes ?? 0) + this.#unread.length);
  }

  #yieldToOthers(): void {
    const { pipelined } = this.#modules;
    if (!pipelined.isOver()) return;
    this.#isYielding = true;
    void pipelined.next().then(() => {
      this.#isYielding = false;
      this.#takeUnread();
    });
  }

  #takeUnread(): void {
    const socket = this.#socket;
    if (this.#isBusy() || socket.destroyed) return;
    const unread = this.#unread;
    if (unread.length > 0) {
      this.#unread = NOTHING;
      this.#charge();
      this.#takeCalls(unread);
      if (this.#isBusy()) return;
    }
    if (this.#isEnding) socket.end();
    else if (socket.isPaused()) socket.resume();
  }

  #answerSoon(reply: SentReply | undefined, context: RequestContext): void {
    this.#answer = { reply, context };
    this.#isWritten = false;
    this.#writing.writeSoon(this);
  }

  /** Runs nothing of the connection's: that is for the end of the turn. */
  writeAnswer(): void {
    if (this.#answer === undefined || this.#isWritten) return;
    this.#isWritten = true;
    this.#write(this.#answer.reply);
  }

  endAnswer(): void {
    this.writeAnswer();
    const answer = this.#answer;
    this.#answer = undefined;
    answer?.context.replied();
    this.#takeUnread();
  }

  #write(reply: SentReply | undefined): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    this.#activeAtMs = this.#modules.timers.now();
    writeReply(socket, reply, this.#writing.writeHead);
    if (socket.writableNeedDrain && socket.writableLength > 0) this.#drain();
  }

  /** Waits a limited time until the client has read its answers. */
  #drain(): void {
    this.#isDraining = true;
    const socket = this.#socket;
    this.#http.output.set(socket.writableLength);
    const { timers, rejected } = this.#modules;
    const timer = timers.after(this.#options.limits.httpReplyTimeoutMs, "slow reader", () => {
      rejected("slowReader");
      socket.destroy();
    });
    socket.once("close", () => timer.cancel());
    socket.once("drain", () => {
      timer.cancel();
      this.#http.output.set(0);
      this.#activeAtMs = timers.now();
      this.#isDraining = false;
      this.#takeUnread();
    });
  }

  #handOver(unread: Buffer): void {
    const socket = this.#socket;
    socket.off("data", this.#received);
    socket.off("end", this.#clientEnded);
    socket.off("error", this.destroy);
    socket.off("close", this.#closed);
    this.#idle.cancel();
    this.#http.input.set(0);
    this.#http.isCalling = undefined;
    this.onGone();
    this.#modules.handOver(this.#http, unread);
  }
}

/** Writes head and parts in one system call. */
function writeReply(socket: Socket, reply: SentReply | undefined, writeHead: HeadWriter): void {
  const parts = reply?.parts ?? [];
  const length = replyBytes(reply);
  const head = writeHead(reply, length);
  const [first = ""] = parts;
  if (parts.length <= 1 && typeof first === "string") {
    // Text of one byte a character is copied as it is.
    socket.write(head + first, length === first.length ? "latin1" : "utf8");
    return;
  }
  socket.cork();
  socket.write(head, "latin1");
  for (const part of parts) socket.write(part);
  socket.uncork();
}

/** All of a head but the length is reused for one second, the resolution of its date. */
function createHeadWriter({ headersOf, limits }: FastHttpOptions): HeadWriter {
  const keepAlive = `timeout=${Math.floor(limits.httpIdleTimeoutMs / 1000)}`;
  const common = { connection: "keep-alive", "keep-alive": keepAlive };
  let second = 0;
  let success = "";

  function headFor(reply: SentReply | undefined): string {
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
    return `${reply?.isUnauthorized || reply?.isGzip ? headFor(reply) : success}${length}\r\n\r\n`;
  };
}
