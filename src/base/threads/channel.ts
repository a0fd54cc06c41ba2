import { InvariantError } from "../errors.ts";
import type { CancelToken } from "./cancel-token.ts";
import { type ErrorData, errorDataOf, errorFromData } from "./plain-data.ts";

/**
 * The functions that one side of a channel offers by name, each with one input of plain data. The other side calls them, or emits events to
 * them, which have no answer.
 */
export type Handlers = Readonly<Record<string, (input: never, call: ServedCall) => unknown>>;

/** The input that the other side passes to a handler of `Here`. */
export type InputOf<Here extends Handlers, Name extends keyof Here> = Parameters<Here[Name]>[0];
export type ResultOf<Here extends Handlers, Name extends keyof Here> = Awaited<
  ReturnType<Here[Name]> extends Moved<infer Value> ? Value : ReturnType<Here[Name]>
>;

export type ChannelMessage =
  | {
      readonly kind: "call";
      readonly id: number;
      readonly name: string;
      readonly input: unknown;
    }
  /** The caller of `id` no longer waits for the answer. */
  | { readonly kind: "abort"; readonly id: number }
  | { readonly kind: "result"; readonly id: number; readonly value: unknown }
  | { readonly kind: "error"; readonly id: number; readonly error: ErrorData }
  | { readonly kind: "event"; readonly name: string; readonly input: unknown };

/**
 * Sends a message to the other side, in order.
 * @param attached buffers to transfer instead of copying, or another attachment of the medium
 */
export type Send = (message: ChannelMessage, attached?: unknown) => void;

export type CallOptions = {
  readonly cancel?: CancelToken | undefined;
  /** See `Send`. */
  readonly attached?: unknown;
};

/** A result whose `buffers` are transferred to the other side without a copy. */
export class Moved<Value = unknown> {
  readonly value: Value;
  readonly buffers: readonly ArrayBuffer[];

  constructor(value: Value, buffers: readonly ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

/** A call by the other side, as its handler sees it. */
export class ServedCall implements CancelToken {
  /** The message's attachment. */
  readonly attached: unknown;
  /** Called once the result is sent. */
  afterReply: (() => void) | undefined;
  #controller: AbortController | undefined;
  isAborted = false;

  constructor(attached: unknown) {
    this.attached = attached;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isAborted) this.#controller.abort();
    return this.#controller.signal;
  }

  abort(): void {
    this.isAborted = true;
    this.#controller?.abort();
  }
}

type WaitingCall = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
  readonly token: CancelToken | undefined;
  readonly abort: () => void;
};

/** How errors cross the channel, if `ErrorData` is not enough. */
export type ErrorCodec = {
  readonly toData: (error: unknown) => ErrorData;
  readonly fromData: (data: ErrorData) => Error;
};

const PLAIN_ERRORS: ErrorCodec = { toData: errorDataOf, fromData: errorFromData };

/**
 * One end of a channel between two threads, processes, or a page and its worker. Each side calls the functions that the other offers, and emits
 * events. Each call gets one answer, in any order. Messages of one side arrive in the order they were sent: an answer that a handler returns at
 * once is sent in that turn, before any later event. Errors cross as data; a `NodeError` becomes a `NodeError` again.
 *
 * Inputs and results must be plain data if the medium requires it; see `plainData`.
 */
export class Channel<There extends Handlers = Handlers> {
  readonly #send: Send;
  #here: Handlers = {};
  readonly #errors: ErrorCodec;
  readonly #waiting = new Map<number, WaitingCall>();
  readonly #served = new Map<number, ServedCall>();
  #nextId = 1;
  /** The error of calls once the channel is closed. */
  #closedBy: (() => Error) | undefined;

  constructor(send: Send, errors = PLAIN_ERRORS) {
    this.#send = send;
    this.#errors = errors;
  }

  /** Offers `here` to the other side. */
  serve(here: Handlers): void {
    this.#here = here;
  }

  /** The result of the other side's function. @throws its errors, and the error of `close` */
  call<Name extends keyof There & string>(
    name: Name,
    input: InputOf<There, Name>,
    { cancel, attached }: CallOptions = {},
  ): Promise<ResultOf<There, Name>> {
    return new Promise((resolve, reject) => {
      if (this.#closedBy !== undefined) throw this.#closedBy();
      const id = this.#nextId++;
      this.#send({ kind: "call", id, name, input }, attached);
      const abort = () => this.#send({ kind: "abort", id });
      this.#waiting.set(id, { resolve: resolve as never, reject, token: cancel, abort });
      if (cancel?.isAborted) abort();
      else cancel?.signal.addEventListener("abort", abort, { once: true });
    });
  }

  /** Sends an event, which has no answer. Does nothing once the channel is closed. */
  emit<Name extends keyof There & string>(name: Name, input: InputOf<There, Name>, attached?: unknown): void {
    if (this.#closedBy === undefined) this.#send({ kind: "event", name, input }, attached);
  }

  /** Handles a message from the other side. @throws errors of event handlers */
  receive(message: ChannelMessage, attached?: unknown): void {
    switch (message.kind) {
      case "result":
        this.#take(message.id)?.resolve(message.value);
        break;
      case "error":
        this.#take(message.id)?.reject(this.#errors.fromData(message.error));
        break;
      case "call":
        this.#answer(message, attached);
        break;
      case "abort":
        this.#served.get(message.id)?.abort();
        break;
      case "event":
        this.#handler(message.name)(message.input as never, new ServedCall(attached));
    }
  }

  /** The other side is gone: pending and later calls fail with `error`, and calls by the other side are aborted. */
  close(error: () => Error): void {
    this.#closedBy ??= error;
    for (const id of [...this.#waiting.keys()]) this.#take(id)?.reject(this.#closedBy());
    for (const call of this.#served.values()) call.abort();
    this.#served.clear();
  }

  #answer({ id, name, input }: ChannelMessage & { kind: "call" }, attached: unknown): void {
    const call = new ServedCall(attached);
    this.#served.set(id, call);
    try {
      const result = this.#handler(name)(input as never, call);
      if (result instanceof Promise) {
        result.then(
          (value) => this.#succeed(id, value),
          (error) => this.#fail(id, error),
        );
      } else this.#succeed(id, result);
    } catch (error) {
      this.#fail(id, error);
    }
  }

  #succeed(id: number, result: unknown): void {
    const { value, buffers } = result instanceof Moved ? result : { value: result, buffers: undefined };
    try {
      this.#send({ kind: "result", id, value }, buffers);
    } catch (error) {
      this.#fail(id, error);
      return;
    }
    const call = this.#served.get(id);
    this.#served.delete(id);
    call?.afterReply?.();
  }

  #fail(id: number, error: unknown): void {
    this.#served.delete(id);
    this.#send({ kind: "error", id, error: this.#errors.toData(error) });
  }

  #handler(name: string): Handlers[string] {
    const handler = Object.hasOwn(this.#here, name) ? this.#here[name] : undefined;
    if (handler === undefined) throw new InvariantError(`nothing named ${name} at this end`);
    return handler;
  }

  #take(id: number): WaitingCall | undefined {
    const call = this.#waiting.get(id);
    if (call === undefined) return undefined;
    this.#waiting.delete(id);
    call.token?.signal.removeEventListener("abort", call.abort);
    return call;
  }
}

/** The part of a `MessagePort`, of `Worker` and of `parentPort` that a channel needs. */
export type MessageEnd = {
  postMessage(message: unknown, moved?: readonly ArrayBuffer[]): void;
  on(event: "message", listener: (message: ChannelMessage) => void): unknown;
};

/** A channel over a port or a thread, which receives from now on. */
export function channelOver<There extends Handlers>(end: MessageEnd, here: Handlers = {}): Channel<There> {
  const channel = new Channel<There>((message, moved) =>
    end.postMessage(message, moved as readonly ArrayBuffer[] | undefined),
  );
  channel.serve(here);
  end.on("message", (message) => channel.receive(message));
  return channel;
}
