import { InvariantError } from "../../../errors.ts";
import type { CancelToken } from "../../../threads/cancel-token.ts";
import type { ChainConstants, ChainListener } from "../chain-view.ts";
import type { RemotePorts } from "../remote-ports.ts";
import { errorDataOf } from "./error-data.ts";
import { plainData } from "./plain-data.ts";
import {
  type ChannelPort,
  type ClientMessage,
  remoteMethod,
  type ServerMessage,
} from "./protocol.ts";

/** Ports that may lack methods nobody on the other side calls. */
export type ServedPorts = {
  readonly [P in keyof RemotePorts]: P extends "chain" ? RemotePorts[P] : Partial<RemotePorts[P]>;
};

/** A call that the other side can abort. */
class Cancellation implements CancelToken {
  readonly #controller = new AbortController();
  get isAborted(): boolean {
    return this.#controller.signal.aborted;
  }
  get signal(): AbortSignal {
    return this.#controller.signal;
  }
  abort(): void {
    this.#controller.abort();
  }
}

/**
 * Answers calls of a channel client from `ports`, until either side closes. A call that fails is answered with its error.
 * The port alone does not keep the process running.
 */
export function serveChannel(port: ChannelPort, ports: ServedPorts): { close(): void } {
  const cancellations = new Map<number, Cancellation>();
  const subscriptions = new Map<number, () => void>();

  function send(message: ServerMessage): void {
    port.postMessage(message);
  }

  /** A result that is there is sent in this turn, before any later event. */
  function answer(message: ClientMessage & { kind: "call" }): void {
    const { id } = message;
    try {
      const result = run(message);
      if (result instanceof Promise) result.then(succeed, fail);
      else succeed(result);
    } catch (error) {
      fail(error);
    }

    function succeed(result: unknown): void {
      cancellations.delete(id);
      try {
        send({ kind: "result", id, value: plainData(result) });
      } catch (error) {
        fail(error);
      }
    }

    function fail(error: unknown): void {
      cancellations.delete(id);
      send({ kind: "error", id, error: errorDataOf(error) });
    }
  }

  function run({ id, port: name, method, args }: ClientMessage & { kind: "call" }): unknown {
    const facts = remoteMethod(name, method);
    const target = ports[name] as Readonly<Record<string, unknown>>;
    const implementation = facts && target[method];
    if (typeof implementation !== "function") {
      throw new InvariantError(`no method ${name}.${method} served by this channel`);
    }
    if (facts?.cancelAt === undefined) return implementation.apply(target, args);
    const cancellation = new Cancellation();
    cancellations.set(id, cancellation);
    const withToken = [...args];
    withToken[facts.cancelAt] = cancellation;
    return implementation.apply(target, withToken);
  }

  function subscribe({ id, events }: ClientMessage & { kind: "subscribe" }): void {
    const listener = Object.fromEntries(
      events.map((event) => [
        event,
        (value: unknown) => send({ kind: "event", id, event, value: plainData(value) }),
      ]),
    ) as ChainListener;
    subscriptions.set(id, ports.chain.subscribe(listener));
  }

  function unsubscribe(id: number): void {
    subscriptions.get(id)?.();
    subscriptions.delete(id);
  }

  function end(): void {
    for (const id of [...subscriptions.keys()]) unsubscribe(id);
    for (const cancellation of cancellations.values()) cancellation.abort();
  }

  port.on("message", (received) => {
    const message = received as ClientMessage;
    if (message.kind === "call") answer(message);
    else if (message.kind === "abort") cancellations.get(message.id)?.abort();
    else if (message.kind === "subscribe") subscribe(message);
    else unsubscribe(message.id);
  });
  port.on("close", end);
  port.unref();
  const { config, genesisHash } = ports.chain;
  send({ kind: "constants", constants: plainData({ config, genesisHash }) as ChainConstants });
  return {
    close() {
      end();
      port.close();
    },
  };
}
