import type { Span } from "../../../base/telemetry/tracer.ts";
import { type Credential, OWNER } from "../auth/credential.ts";
import type { JsonText } from "../codec.ts";

/** The way a call came in. */
export type Transport = "http" | "ws" | "ipc" | "inProcess";

/** What one listener serves. */
export type AccessPolicy = {
  /** Enabled namespaces; `rpc` is always one of them. */
  readonly namespaces: ReadonlySet<string>;
  /** Private methods need no credential here: the IPC socket, and a dev chain's listeners. */
  readonly isOpen: boolean;
  /** Every method needs a credential here. */
  readonly isClosed?: boolean;
  /** Methods of these namespaces that are still not served here. */
  readonly deniedMethods?: ReadonlySet<string>;
};

/** A caller that can be notified: a WebSocket or IPC connection. */
export interface Connection {
  /**
   * Sends messages in one write. A peer that does not read is closed.
   * @param messages JSON in ASCII, as all notifications are: hex, numbers and names of members
   */
  notify(messages: readonly string[]): void;
  /**
   * Sends a notification of any size whose sender waits for it: it does not count against the limit of unsent notifications.
   * Resolves when the system has accepted it and all before it; never when the connection is closed first.
   */
  deliver(message: JsonText): Promise<void>;
  /** Closes the connection: it asks for more notifications than the node can send. */
  overrun(): void;
  /** Closes the connection: its place is given to a client of higher priority. */
  overCapacity?(): void;
  /** Runs `task` once the connection is gone; at once if it is. */
  onClose(task: () => void): void;
}

/** Where a call comes from, as far as it can be told. */
export type CallSource = {
  readonly remoteAddress: string;
  /** What the caller put into the header `x-api-key`: anybody may claim any. */
  readonly apiKey: string | undefined;
  /** The common name of its certificate, which an authority of `tls.client-ca` signed. */
  readonly certified: string | undefined;
};

/** What a handler may know of its caller. */
export interface CallContext {
  readonly transport: Transport;
  readonly access: AccessPolicy;
  /** undefined: a stranger */
  readonly credential: Credential | undefined;
  readonly connection: Connection | undefined;
  /** Whom calls are charged to. Absent: a process of the node's owner */
  readonly source?: CallSource | undefined;
  /** The caller's `traceparent` header, if calls are traced. */
  readonly traceparent?: string | undefined;
  /** Of the call that runs, where calls are traced. */
  readonly span?: Span | undefined;
  /** No answer is expected any more: timeout or closed connection. */
  readonly isAborted: boolean;
  /** Aborted when `isAborted` becomes true. */
  readonly signal: AbortSignal;
  /** Runs `task` when the answer has been handed to the transport. */
  afterReply(task: () => void): void;
}

/** The context of one body from its caller; the abort signal is made only when a handler asks for it. */
export class RequestContext implements CallContext {
  readonly transport: Transport;
  readonly access: AccessPolicy;
  readonly credential: Credential | undefined;
  readonly connection: Connection | undefined;
  readonly source: CallSource | undefined;
  traceparent: string | undefined;
  span: Span | undefined;
  /** Those of higher priority have their turn first. undefined: all are equal */
  priority: number | undefined;
  /** Set by a transport that charges `inputBytes`: called with the added bytes. */
  onInputBytes: ((change: number) => void) | undefined;
  #inputBytes = 0;
  #abort: AbortController | undefined;
  #isAborted = false;
  #afterReply: (() => void)[] | undefined;

  constructor(caller: Caller) {
    this.transport = caller.transport;
    this.access = caller.access;
    this.credential = caller.credential;
    this.connection = caller.connection;
    this.source = caller.source;
  }

  /** Memory of the request while it waits for its answer: text and parsed values. Set by the dispatcher. */
  get inputBytes(): number {
    return this.#inputBytes;
  }

  set inputBytes(bytes: number) {
    const change = bytes - this.#inputBytes;
    this.#inputBytes = bytes;
    this.onInputBytes?.(change);
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      this.#abort = new AbortController();
      if (this.#isAborted) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  /** No answer is expected any more. */
  get isAborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    this.#isAborted = true;
    this.#abort?.abort();
  }

  afterReply(task: () => void): void {
    this.#afterReply ??= [];
    this.#afterReply.push(task);
  }

  /** For the transport: the answer is on its way. */
  replied(): void {
    const tasks = this.#afterReply;
    this.#afterReply = undefined;
    if (tasks) for (const task of tasks) task();
  }
}

/** Who sent a body. */
export type Caller = Pick<CallContext, "transport" | "access" | "credential" | "connection" | "source">;

/** The context of a call that came over no transport: trusted, nothing to notify. */
export function inProcessContext(namespaces: Iterable<string> = []): RequestContext {
  return new RequestContext({
    transport: "inProcess",
    access: { namespaces: new Set(namespaces), isOpen: true },
    credential: OWNER,
    connection: undefined,
  });
}
