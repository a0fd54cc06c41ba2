import { once } from "node:events";
import type { MessagePort } from "node:worker_threads";
import type { CancelToken } from "../../../threads/cancel-token.ts";
import { ChainUnreachableError } from "../../transport/errors.ts";
import type { ChainConstants, ChainListener, ChainView } from "../chain-view.ts";
import type { RemotePorts } from "../remote-ports.ts";
import { errorFromData } from "./error-data.ts";
import { plainData } from "./plain-data.ts";
import {
  type ChainEvent,
  type ChannelPort,
  type ClientMessage,
  REMOTE_METHODS,
  type RemotePortName,
  remoteMethod,
  type ServerMessage,
} from "./protocol.ts";

type PendingCall = {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
};

/**
 * The ports that `serveChannel` serves at the other end of `port`. It keeps the process running while a call waits for its answer.
 * Calls fail with ChainUnreachableError once the channel is closed.
 * @param options.onListenerError called with what a listener of events throws
 */
export async function connectChannel(
  port: MessagePort,
  options: { readonly onListenerError: (error: unknown) => void },
): Promise<RemotePorts> {
  const first = once(port, "message");
  const [message] = (await first) as [ServerMessage & { kind: "constants" }];
  return createChannelPorts(port, message.constants, options);
}

/** As `connectChannel`, where the chain's constants are known. */
export function createChannelPorts(
  port: ChannelPort,
  constants: ChainConstants,
  { onListenerError }: { readonly onListenerError: (error: unknown) => void },
): RemotePorts {
  return new ChannelClient(port, onListenerError).ports(constants);
}

class ChannelClient {
  readonly #port: ChannelPort;
  readonly #calls = new Map<number, PendingCall>();
  readonly #listeners = new Map<number, ChainListener>();
  readonly #onListenerError: (error: unknown) => void;
  #nextId = 1;
  #isClosed = false;

  constructor(port: ChannelPort, onListenerError: (error: unknown) => void) {
    this.#port = port;
    this.#onListenerError = onListenerError;
    port.on("message", (message) => this.#receive(message as ServerMessage));
    port.on("messageerror", () => port.close());
    port.on("close", () => this.#end());
    port.unref();
  }

  ports(constants: ChainConstants): RemotePorts {
    const chain = {
      ...constants,
      ...this.#methodsOf("chain"),
      subscribe: (listener: ChainListener) => this.#subscribe(listener),
    } as ChainView;
    return {
      chain,
      execution: this.#methodsOf("execution"),
      inspection: this.#methodsOf("inspection"),
      keys: this.#methodsOf("keys"),
      node: this.#methodsOf("node"),
      dev: this.#methodsOf("dev"),
      les: this.#methodsOf("les"),
      shh: this.#methodsOf("shh"),
      runtime: this.#methodsOf("runtime"),
      tools: this.#methodsOf("tools"),
    };
  }

  #methodsOf<P extends RemotePortName>(port: P): RemotePorts[P] {
    const methods = Object.keys(REMOTE_METHODS[port]).map((method) => [
      method,
      (...args: unknown[]) => this.#call(port, method, args),
    ]);
    return Object.fromEntries(methods);
  }

  #call(port: RemotePortName, method: string, args: unknown[]): Promise<unknown> {
    const { cancelAt } = remoteMethod(port, method)!;
    const token = cancelAt === undefined ? undefined : (args[cancelAt] as CancelToken | undefined);
    const sent = cancelAt === undefined ? args : args.slice(0, cancelAt);
    const id = this.#nextId++;
    const answer = new Promise((resolve, reject) => {
      if (this.#isClosed) throw new ChainUnreachableError();
      this.#send({ kind: "call", id, port, method, args: plainData(sent) as unknown[] });
      if (this.#calls.size === 0) this.#port.ref();
      this.#calls.set(id, { resolve, reject });
    });
    return token === undefined ? answer : this.#cancellable(id, answer, token.signal);
  }

  #cancellable<T>(id: number, answer: Promise<T>, signal: AbortSignal): Promise<T> {
    const abort = (): void => this.#send({ kind: "abort", id });
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    return answer.finally(() => signal.removeEventListener("abort", abort));
  }

  #subscribe(listener: ChainListener): () => void {
    const id = this.#nextId++;
    this.#listeners.set(id, listener);
    this.#send({ kind: "subscribe", id, events: Object.keys(listener) as ChainEvent[] });
    return () => {
      if (this.#listeners.delete(id)) this.#send({ kind: "unsubscribe", id });
    };
  }

  #send(message: ClientMessage): void {
    this.#port.postMessage(message);
  }

  #receive(message: ServerMessage): void {
    if (message.kind === "event") this.#emit(message);
    else if (message.kind !== "constants") this.#settle(message);
  }

  #settle(message: ServerMessage & { kind: "result" | "error" }): void {
    const call = this.#calls.get(message.id);
    this.#calls.delete(message.id);
    if (this.#calls.size === 0) this.#port.unref();
    if (message.kind === "result") call?.resolve(message.value);
    else call?.reject(errorFromData(message.error));
  }

  #emit({ id, event, value }: ServerMessage & { kind: "event" }): void {
    const listener = this.#listeners.get(id)?.[event] as ((value: unknown) => void) | undefined;
    try {
      listener?.(value);
    } catch (error) {
      this.#onListenerError(error);
    }
  }

  #end(): void {
    this.#isClosed = true;
    for (const { reject } of this.#calls.values()) reject(new ChainUnreachableError());
    this.#calls.clear();
    this.#listeners.clear();
  }
}
