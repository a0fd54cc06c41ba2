import type { Duplex } from "node:stream";
import type { Timer } from "../../../base/telemetry/timers.ts";
import type { JsonText } from "../codec.ts";
import { type Caller, type Connection, RequestContext } from "../dispatch/context.ts";
import type { Reply } from "../dispatch/dispatcher.ts";
import type { RpcLimits } from "../limits.ts";
import type { MemoryShare } from "../memory-budget.ts";
import type { ListenerModules } from "./listener.ts";
import { type Piece, piecesOf, SendQueue } from "./send-queue.ts";

/** Why a connection is closed by the node; the label of the counter. */
export type CloseReason =
  | "inputMemory"
  | "outputMemory"
  | "sendBuffer"
  | "notifications"
  | "capacity"
  | "replaced"
  | "tokenEnd"
  | "timeout"
  | "message"
  | "parse";

/**
 * A connection that carries many messages: WebSocket or IPC. Its calls run at the same time, and its answers are sent as they become ready.
 * Received bytes, running calls and unread answers are charged to the memory budgets.
 */
export abstract class SocketConnection implements Connection {
  protected readonly socket: Duplex;
  protected readonly limits: RpcLimits;
  protected readonly modules: ListenerModules;
  readonly #caller: Caller;
  readonly #running = new Set<RequestContext>();
  /** Messages of one read that have to wait until earlier ones are answered. */
  readonly #held: Buffer[] = [];
  readonly #closeTasks: (() => void)[] = [];
  readonly #queue: SendQueue;
  readonly #input: MemoryShare;
  readonly #output: MemoryShare;
  /** Of the message that is not complete yet. */
  #incompleteBytes = 0;
  #waitingBytes = 0;
  /** Sent since nothing was unsent: no fewer than are unsent now. */
  #notificationBytes = 0;
  /** Of notifications whose senders wait for them. */
  #deliveringBytes = 0;
  #isReadingPaused = false;
  /** Its next calls wait for a later turn. */
  #isYielding = false;
  /** A message of this read was dispatched. */
  #hasCalled = false;
  #isServingHeld = false;
  #isEnding = false;
  #isClosed = false;
  #deadline: Timer | undefined;
  #timedMessage: number | undefined;

  constructor(socket: Duplex, caller: Omit<Caller, "connection">, limits: RpcLimits, modules: ListenerModules) {
    this.socket = socket;
    this.limits = limits;
    this.modules = modules;
    this.#caller = { ...caller, connection: this };
    this.#queue = new SendQueue(socket, limits.socketPauseBytes, () => this.#written());
    this.#input = modules.budgets.input.open(() => this.cut("inputMemory"));
    this.#output = modules.budgets.output.open(() => this.cut("outputMemory"));
  }

  /** Writes an answer; `written` runs once the system has accepted it. */
  protected abstract writeReply(reply: Reply, written: () => void): void;
  /** A large answer while it is written to the socket. Between two pieces the connection may write other frames. */
  protected abstract framedPieces(pieces: readonly Piece[]): Piece[];
  /** All `messages` as they are written to the socket, a character a byte. */
  protected abstract framed(messages: readonly string[]): string;
  protected abstract isOpen(): boolean;
  protected abstract pauseReading(): void;
  protected abstract resumeReading(): void;
  /** Closes the connection after its last write. */
  protected abstract closeAfterParseError(): void;
  /** Closes the connection at once. */
  protected abstract closeFor(reason: CloseReason): void;

  notify(messages: readonly string[]): void {
    if (this.#isClosed || !this.isOpen()) return;
    const text = this.framed(messages);
    const unsent = this.unsentBytes;
    this.#notificationBytes = (unsent === 0 ? 0 : this.#notificationBytes) + text.length;
    const unsentNotifications = Math.min(this.#notificationBytes, unsent + text.length);
    if (unsentNotifications > this.limits.notificationBufferBytesMax) {
      this.cut("notifications");
      return;
    }
    if (this.#queue.isEmpty) this.socket.write(text, "latin1", this.#written);
    else this.#queue.push([[Buffer.from(text, "latin1")]]);
    this.#output.set(this.unsentBytes);
  }

  deliver(message: JsonText): Promise<void> {
    const parts = Array.isArray(message) ? message : [message];
    const bytes = parts.reduce((sum: number, part) => sum + Buffer.byteLength(part), 0);
    return new Promise((resolve) => {
      if (this.#isClosed || !this.isOpen()) return;
      this.#deliveringBytes += bytes;
      this.#send({ parts, byteLength: bytes, isParseError: false, isUnauthorized: false }, () => {
        this.#deliveringBytes -= bytes;
        resolve();
      });
    });
  }

  overrun(): void {
    this.cut("notifications");
  }

  overCapacity(): void {
    this.cut("capacity");
  }

  onClose(task: () => void): void {
    if (this.#isClosed) task();
    else this.#closeTasks.push(task);
  }

  /** Called before the messages of a read. */
  protected readBegins(): void {
    this.#hasCalled = false;
  }

  /** A complete message. */
  protected received(message: Buffer): void {
    if (this.#isClosed || this.#isEnding) return;
    if (!this.#isReadingPaused && !(this.#hasCalled && this.#yieldToOthers())) {
      this.#hasCalled = true;
      this.#dispatch(message);
      return;
    }
    this.#held.push(message);
    this.#wait(message.length);
  }

  /**
   * Called after each read, or piece of one.
   * @param message number of the incomplete message, undefined if none
   */
  protected progressed(message: number | undefined, incompleteBytes: number): void {
    if (this.#isClosed) return;
    if (incompleteBytes !== this.#incompleteBytes) {
      this.#incompleteBytes = incompleteBytes;
      this.#chargeInput();
    }
    if (message === this.#timedMessage) return;
    this.#timedMessage = message;
    this.#deadline?.cancel();
    this.#deadline = message === undefined ? undefined : this.#startDeadline();
  }

  /** Counts `reason` and closes the connection. */
  protected cut(reason: CloseReason): void {
    if (this.#isClosed) return;
    this.modules.observer.rejected(this.#caller.transport, reason);
    this.closeFor(reason);
    this.closed();
  }

  /** The connection is closed, or will be without anything more being sent. */
  protected closed(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#deadline?.cancel();
    this.#held.length = 0;
    this.#queue.clear();
    this.#input.close();
    this.#output.close();
    for (const context of this.#running) context.abort();
    for (const task of this.#closeTasks.splice(0)) task();
  }

  #startDeadline(): Timer {
    return this.modules.timers.after(this.limits.messageTimeoutMs, "message timeout", () => {
      // While reading is paused the client cannot go on sending.
      if (this.#isReadingPaused) this.#deadline = this.#startDeadline();
      else this.cut("timeout");
    });
  }

  readonly #written = (): void => {
    if (this.#isClosed) return;
    this.#output.set(this.unsentBytes);
    if (this.#isEnding) this.#endWhenAnswered();
    else this.#holdBack();
  };

  /** What the client has not read, as far as the system has not accepted it either. */
  protected get unsentBytes(): number {
    return this.#queue.unsentBytes;
  }

  /** @param written runs once the system has accepted all of it */
  #send(reply: Reply, written?: () => void): void {
    const chars = reply.parts.reduce((sum, { length }) => sum + length, 0);
    if (this.#queue.isEmpty && chars <= this.limits.socketPauseBytes) {
      this.writeReply(reply, () => {
        written?.();
        this.#written();
      });
    } else if (this.isOpen()) this.#queue.push(this.framedPieces(piecesOf(reply.parts)), written);
    this.#output.set(this.unsentBytes);
  }

  #dispatch(message: Buffer): void {
    const context = new RequestContext(this.#caller);
    const reply = this.modules.dispatcher.dispatch(message, context);
    if (!(reply instanceof Promise)) {
      this.#reply(reply, context);
      return;
    }
    this.#running.add(context);
    this.#wait(context.inputBytes);
    context.onInputBytes = (change) => this.#wait(change);
    this.#holdBack();
    void reply.then((done) => {
      this.#running.delete(context);
      this.#wait(-context.inputBytes);
      this.#reply(done, context);
    });
  }

  #reply(reply: Reply | undefined, context: RequestContext): void {
    if (this.#isClosed) return;
    // One answer may be larger than the limit, as large as its own: it is sent as the client reads.
    if (this.unsentBytes - this.#deliveringBytes > this.limits.socketSendBufferBytesMax) {
      this.cut("sendBuffer");
      return;
    }
    if (reply) this.#send(reply);
    context.replied();
    if (reply?.isParseError) this.#isEnding = true;
    if (this.#isEnding) this.#endWhenAnswered();
    else this.#holdBack();
  }

  /** Nothing that follows text which is not JSON can be read; the calls before it still get their answers. */
  #endWhenAnswered(): void {
    this.#held.length = 0;
    if (this.#running.size === 0 && this.#queue.isEmpty) this.closeAfterParseError();
    else if (!this.#isReadingPaused) {
      this.#isReadingPaused = true;
      this.pauseReading();
    }
  }

  /** Reads on only while the client reads too and not too many of its calls run. */
  #holdBack(): void {
    const isBusy = this.#isBusy();
    if (isBusy === this.#isReadingPaused || this.#isEnding || !this.isOpen()) return;
    if (isBusy) {
      this.#isReadingPaused = true;
      this.pauseReading();
    } else if (this.#held.length === 0) {
      this.#isReadingPaused = false;
      this.resumeReading();
    } else if (!this.#isServingHeld) this.#serveHeld();
  }

  protected get isReadingPaused(): boolean {
    return this.#isReadingPaused;
  }

  #isBusy(): boolean {
    return (
      this.#isYielding ||
      this.#running.size >= this.limits.socketCallsMax ||
      this.unsentBytes > this.limits.socketPauseBytes
    );
  }

  #serveHeld(): void {
    this.#isServingHeld = true;
    while (this.#held.length > 0 && !this.#isClosed && !this.#isBusy()) {
      if (this.#yieldToOthers()) break;
      const message = this.#held.shift()!;
      this.#wait(-message.length);
      this.#dispatch(message);
    }
    this.#isServingHeld = false;
    this.#holdBack();
  }

  /** True when further calls must wait, which is when the calls of this turn have taken their time. */
  #yieldToOthers(): boolean {
    const { pipelined } = this.modules;
    if (!pipelined.isOver()) return false;
    this.#isYielding = true;
    this.#holdBack();
    void pipelined.next().then(() => {
      this.#isYielding = false;
      this.#holdBack();
    });
    return true;
  }

  #wait(bytes: number): void {
    this.#waitingBytes += bytes;
    this.#chargeInput();
  }

  #chargeInput(): void {
    this.#input.set(this.#waitingBytes + this.#incompleteBytes);
  }
}
