import { invariant } from "../../base/errors.ts";
import type { CancelToken } from "../../base/threads/cancel-token.ts";
import type { Channel, Handlers, ServedCall } from "../../base/threads/channel.ts";
import { plainData } from "../../base/threads/plain-data.ts";
import type { ChainConstants, ChainListener, ChainView } from "./chain-view.ts";
import { type AnyMethod, methodsOf, PLAIN_PORTS, PORT_METHODS, type PortName } from "./declarations.ts";
import type { RemotePorts } from "./remote-ports.ts";

/**
 * The ports over a channel: a method crosses as `port.method`. An event that is sent before a result was there before that result was
 * read.
 */
type EventName = keyof ChainListener;

/** Ports that may lack methods which the other side does not call. */
export type ServedPorts = {
  readonly [P in keyof RemotePorts]: P extends "chain" ? RemotePorts[P] : Partial<RemotePorts[P]>;
};

/** What the side that asks offers, for the events it subscribes to. */
type ClientHandlers = {
  /** @param event.id of the subscription */
  "chain.event"(event: { readonly id: number; readonly name: EventName; readonly value: unknown }): void;
};

/** What the side of the ports offers besides their methods. */
type SubscriptionHandlers = {
  "chain.subscribe"(input: { readonly id: number; readonly names: readonly EventName[] }): void;
  "chain.unsubscribe"(input: { readonly id: number }): void;
};

const PORTS = Object.keys(PORT_METHODS) as PortName[];

/** Serves ports to the other side of a channel. */
export class PortServer {
  /** For `Channel.serve`. */
  readonly handlers: Handlers;
  readonly #subscriptions = new Map<number, () => void>();

  constructor(ports: ServedPorts, channel: Channel<ClientHandlers>) {
    const declared = PORTS.flatMap((port) =>
      methodsOf(port).map(([name, { cancel }]) => [port, name, cancel] as const),
    );
    const plain = PLAIN_PORTS.flatMap((port) => {
      invariant(Object.getPrototypeOf(ports[port]) === Object.prototype, "methods of a class are not own properties");
      return Object.keys(ports[port]).map((name) => [port, name, undefined] as const);
    });
    const methods = [...declared, ...plain].flatMap(([port, name, cancel]) => {
      const target = ports[port] as Readonly<Record<string, AnyMethod | undefined>>;
      if (target[name] === undefined) return [];
      const handler = (input: object | undefined, call: ServedCall) => {
        const result = target[name]!(cancel ? { ...input, cancel: call } : input);
        return result instanceof Promise ? result.then(plainData) : plainData(result);
      };
      return [[`${port}.${name}`, handler]];
    });
    const subscriptions: SubscriptionHandlers = {
      "chain.subscribe": ({ id, names }) => {
        const listeners = names.map((name) => [
          name,
          (value: unknown) => channel.emit("chain.event", { id, name, value: plainData(value) }),
        ]);
        const listener = Object.fromEntries(listeners) as ChainListener;
        invariant(!this.#subscriptions.has(id), "a subscription has a number of its own");
        this.#subscriptions.set(id, ports.chain.subscribe(listener));
      },
      "chain.unsubscribe": ({ id }) => this.#unsubscribe(id),
    };
    this.handlers = { ...Object.fromEntries(methods), ...subscriptions };
  }

  /** The other side is gone. */
  close(): void {
    for (const id of [...this.#subscriptions.keys()]) this.#unsubscribe(id);
  }

  #unsubscribe(id: number): void {
    this.#subscriptions.get(id)?.();
    this.#subscriptions.delete(id);
  }
}

/** The ports that a `PortServer` serves at the other side of a channel. */
export class PortClient {
  /** For `Channel.serve`. */
  readonly handlers: ClientHandlers;
  readonly ports: RemotePorts;
  readonly #channel: Channel;
  readonly #listeners = new Map<number, ChainListener>();
  #nextId = 1;

  /** @param onListenerError called with errors of event listeners */
  constructor(channel: Channel, constants: ChainConstants, onListenerError: (error: unknown) => void) {
    this.#channel = channel;
    const ports = [
      ...PORTS.map((port) => [port, this.#port(port)]),
      ...PLAIN_PORTS.map((port) => [port, this.#plainPort(port)]),
    ];
    const { chain, ...others } = Object.fromEntries(ports) as RemotePorts;
    this.ports = { ...others, chain: { ...constants, ...this.#subscribing(chain) } };
    this.handlers = {
      "chain.event": ({ id, name, value }) => {
        try {
          this.#listeners.get(id)?.[name]?.(value as never);
        } catch (error) {
          onListenerError(error);
        }
      },
    };
  }

  #port(port: PortName): Readonly<Record<string, AnyMethod>> {
    const methods = methodsOf(port).map(([name, facts]) => {
      const path = `${port}.${name}`;
      return [name, facts.cancel ? this.#cancellable(path) : this.#method(path)];
    });
    return Object.fromEntries(methods);
  }

  /** Any name is a method: the other side says which there are. `then` is not, or a port could not be what a promise resolves to. */
  #plainPort(port: string): Readonly<Record<string, AnyMethod>> {
    return new Proxy<Record<string, AnyMethod>>(
      {},
      { get: (_, name) => (typeof name === "string" && name !== "then" ? this.#method(`${port}.${name}`) : undefined) },
    );
  }

  #method(path: string): AnyMethod {
    return (input) => this.#channel.call(path, plainData(input) as never);
  }

  #cancellable(path: string): AnyMethod {
    return (input) => {
      const { cancel, ...rest } = input as { readonly cancel?: CancelToken };
      return this.#channel.call(path, plainData(rest) as never, { cancel });
    };
  }

  #subscribing(chain: ChainView): ChainView {
    const channel = this.#channel as Channel<SubscriptionHandlers>;
    const subscribe = (listener: ChainListener) => {
      const id = this.#nextId++;
      this.#listeners.set(id, listener);
      channel.emit("chain.subscribe", { id, names: Object.keys(listener) as EventName[] });
      return () => {
        if (this.#listeners.delete(id)) channel.emit("chain.unsubscribe", { id });
      };
    };
    return { ...chain, subscribe };
  }
}
