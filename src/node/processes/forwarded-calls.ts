import type { Channel } from "../../base/threads/channel.ts";
import type { AdmittedCall, CallerIdentity, ServingPort } from "../../heritage/les/port.ts";
import type { ClientConnection } from "../../heritage/les/serving/light-clients.ts";
import type { ServingPorts } from "../../rpc/methods/rpc-ports.ts";
import type { JsonText } from "../../rpc/transport/codec.ts";
import type { CallContext, Connection } from "../../rpc/transport/dispatch/context.ts";
import type { RawParams } from "../../rpc/transport/dispatch/message.ts";
import type { Method, Registry } from "../../rpc/transport/dispatch/method.ts";
import type { ChainHandlers, RpcProcessHandlers } from "./protocol.ts";

/** Calls that the chain's process runs for this process, and their connections. */
export class ForwardedCalls {
  readonly handlers: Pick<RpcProcessHandlers, "notify" | "overrun" | "overCapacity"> = {
    notify: ({ connection, messages }) => this.#connections.get(connection)?.notify(messages),
    overrun: ({ connection }) => this.#connections.get(connection)?.overrun(),
    overCapacity: ({ connection }) => this.#connections.get(connection)?.overCapacity?.(),
  };
  readonly #channel: Channel<ChainHandlers>;
  readonly #ids = new WeakMap<Connection, number>();
  readonly #connections = new Map<number, Connection>();
  #nextId = 1;

  constructor(channel: Channel<ChainHandlers>) {
    this.#channel = channel;
  }

  /** `methods`, with forwarding versions of those that run in the chain's process. */
  registryOf(methods: Registry<ServingPorts>): Registry<ServingPorts> {
    return new Map(
      Array.from(methods, ([name, method]) => [name, method.isForwarded ? this.#forwarded(method) : method]),
    );
  }

  /** The number under which the chain's process knows a connection. */
  connectionId(connection: Connection): number {
    const known = this.#ids.get(connection);
    if (known !== undefined) return known;
    const id = this.#nextId++;
    this.#ids.set(connection, id);
    this.#connections.set(id, connection);
    connection.onClose(() => {
      this.#connections.delete(id);
      this.#channel.emit("gone", { connection: id });
    });
    return id;
  }

  #forwarded(method: Method<ServingPorts>): Method<ServingPorts> {
    return {
      ...method,
      // It queues in the process that runs it.
      isHeavy: false,
      run: (_ports, params, context) => this.#forward(method.name, params, context),
    };
  }

  #forward(method: string, params: RawParams, context: CallContext): Promise<JsonText> {
    const connection = context.connection && this.connectionId(context.connection);
    const { transport, source, span } = context;
    const address = source?.remoteAddress;
    const call = { method, params, transport, connection, address, traceparent: span?.traceparent };
    return this.#channel.call("run", call, { cancel: context });
  }
}

/** Asks the chain's process to admit each call: a client has one capacity, whichever processes serve its connections. */
export class ForwardedAdmission implements ServingPort {
  readonly #channel: Channel<ChainHandlers>;
  readonly #calls: ForwardedCalls;
  readonly #ids = new WeakMap<AdmittedCall, number>();

  constructor(channel: Channel<ChainHandlers>, calls: ForwardedCalls) {
    this.#channel = channel;
    this.#calls = calls;
  }

  async admit(caller: CallerIdentity, client: ClientConnection | undefined): Promise<AdmittedCall> {
    const connection = client && this.#calls.connectionId(client as unknown as Connection);
    const { id, call } = await this.#channel.call("admit", { caller, connection });
    this.#ids.set(call, id);
    return call;
  }

  charge(call: AdmittedCall, cost: number): void {
    this.#channel.emit("charge", { id: this.#ids.get(call)!, cost });
  }
}
