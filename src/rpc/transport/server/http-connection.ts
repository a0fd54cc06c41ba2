import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Timer, Timers } from "../../../base/telemetry/timers.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import type { RpcObserver } from "../dispatch/observer.ts";
import type { RpcLimits } from "../limits.ts";
import type { MemoryShare } from "../memory-budget.ts";
import { certifiedNameOf } from "./admission.ts";
import { clientFault, endSoon, endWithRejection, endWithStatus, sendRejection } from "./http-rejection.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import type { ListenerModules } from "./listener.ts";
import { type PiecewiseReading, readInPieces } from "./read-in-pieces.ts";
import { INPUT_MEMORY, type Rejection } from "./rejection.ts";

/** A request that node:http has parsed and its answer; heap objects of some 4 KB besides the body. */
type Exchange = { readonly request: IncomingMessage; readonly response: ServerResponse };
const EXCHANGE_BYTES = 4096;

/** One TCP connection of an HTTP listener: its share of the memory budgets, and how it ends. */
export class HttpConnection {
  readonly socket: Socket;
  readonly input: MemoryShare;
  readonly output: MemoryShare;
  readonly #observer: RpcObserver;
  readonly #pipelined: SharedSlices;
  readonly #timers: Timers;
  readonly #headersTimeoutMs: number;
  /** Requests without a complete answer, in the order of their arrival. */
  readonly #exchanges = new Set<Exchange>();
  #pieces: PiecewiseReading | undefined;
  /** Of the one that the parser reads. */
  #pieceBytes = 0;
  #begun = 0;
  #lateRequest: Timer | undefined;
  #hasFailed = false;
  /** null: not looked at yet */
  #certified: string | undefined | null = null;
  /** No request can follow any more: the connection ends with this status once every complete request has its answer. */
  #faultStatus: number | undefined;

  constructor(
    socket: Socket,
    { httpHeadersTimeoutMs }: RpcLimits,
    { budgets, observer, pipelined, timers }: Pick<ListenerModules, "budgets" | "observer" | "pipelined" | "timers">,
  ) {
    this.socket = socket;
    this.#observer = observer;
    this.#pipelined = pipelined;
    this.#timers = timers;
    this.#headersTimeoutMs = httpHeadersTimeoutMs;
    this.input = budgets.input.open(() => this.#evicted());
    this.output = budgets.output.open(() => {
      observer.rejected("http", "outputMemory");
      socket.destroy();
    });
  }

  /** Runs out where the first request does not come. */
  deadline: Timer | undefined;
  /** Whether a call of the fast path runs. */
  isCalling: (() => boolean) | undefined;

  /** A request is complete and has no complete answer. */
  get isBusy(): boolean {
    if (this.isCalling?.() === true) return true;
    for (const { request } of this.#exchanges) if (request.complete) return true;
    return false;
  }

  /** See `certifiedNameOf`, which takes longer than a small call. */
  get certified(): string | undefined {
    if (this.#certified === null) this.#certified = certifiedNameOf(this.socket);
    return this.#certified;
  }

  /** To be called once node:http reads from the socket. @param unread what it reads first */
  readInPieces(unread?: Buffer): void {
    // With a listener more than its own, node:http has its parser read from the stream and not from the system.
    this.socket.prependListener("data", (piece: Buffer) => {
      this.#pieceBytes = piece.length;
    });
    this.#pieces = readInPieces(this.socket);
    if (unread) this.#pieces.unread(unread);
  }

  /** Calls `serve` when it is the turn of this request: the answers to all of one packet could fill the memory unread. */
  begin(request: IncomingRequest, response: ServerResponse, serve: () => void): void {
    this.deadline?.cancel();
    const exchange = { request, response };
    this.#exchanges.add(exchange);
    this.#begun++;
    this.input.add(EXCHANGE_BYTES);
    const isAlone = request.ignoresUpgrade;
    // Behind a request with an Upgrade header the parser drops the rest of the piece: closing tells a client that its next request has no answer.
    if (isAlone && this.#pieceBytes > request.bytesMin) response.setHeader("connection", "close");
    this.#pieces?.expect(Number(request.headers["content-length"] ?? 0), isAlone);
    response.once("close", () => {
      this.#exchanges.delete(exchange);
      this.input.add(-EXCHANGE_BYTES);
      if (this.#exchanges.size <= 1) this.#pieces?.release();
      this.#endAfterFault();
    });
    // It may have been rejected while it waited.
    const serveIfOpen = () => {
      if (!response.headersSent && !response.destroyed) serve();
    };
    if (response.socket) serve();
    else {
      this.#pieces?.hold();
      response.once("socket", () => {
        if (this.#pipelined.isOver()) void this.#pipelined.next().then(serveIfOpen);
        else serve();
      });
    }
  }

  /** The first request did not come in time. */
  timedOut(): void {
    this.failed(Object.assign(new Error("request timeout"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }));
  }

  /** What node:http emits as `clientError`. */
  failed(error: NodeJS.ErrnoException): void {
    // Each piece after the first fault is reported again.
    if (this.#hasFailed) return;
    if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && this.#pieces?.isHeld) {
      this.#failLater(error);
      return;
    }
    this.#hasFailed = true;
    if (!this.socket.writable || error.code === "ECONNRESET") {
      endSoon(this.socket, this.#timers);
      return;
    }
    const { status, reason } = clientFault(error);
    this.#observer.rejected("http", reason);
    this.#faultStatus = status;
    this.#endAfterFault();
  }

  /** The rest of the late request may be unread because its client waits for an answer. */
  #failLater(error: NodeJS.ErrnoException): void {
    const begun = this.#begun;
    this.#lateRequest = this.#timers.after(this.#headersTimeoutMs, "late request", () => {
      if (this.#begun === begun) this.failed(error);
    });
  }

  /** The socket is closed, or another protocol's. */
  close(): void {
    this.#lateRequest?.cancel();
    this.#pieces?.stop();
    this.input.close();
    this.output.close();
  }

  #endAfterFault(): void {
    if (this.#faultStatus === undefined || !this.socket.writable) return;
    let isAnswering = false;
    for (const { request, response } of this.#exchanges) {
      if (request.complete && !response.writableFinished) return;
      isAnswering ||= response.headersSent && !response.writableFinished;
    }
    // Another answer cannot be written in the middle of one.
    if (isAnswering) {
      // A client that does not read the rest of its answer is cut by the limits of output.
      this.socket.destroySoon();
      return;
    }
    endWithStatus(this.socket, this.#faultStatus, this.#timers);
  }

  #evicted(): void {
    this.#observer.rejected("http", INPUT_MEMORY.reason);
    this.#reject(INPUT_MEMORY);
  }

  #reject(rejection: Rejection): void {
    const [current] = this.#exchanges;
    if (current === undefined) endWithRejection(this.socket, rejection, this.#timers);
    else if (current.response.headersSent || !current.response.socket) this.socket.destroy();
    else sendRejection(current.request, current.response, rejection, false, this.#timers);
  }
}
