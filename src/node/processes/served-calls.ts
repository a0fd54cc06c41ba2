import { InvariantError, invariant } from "../../base/errors.ts";
import { errorTypeOf, type Tracer } from "../../base/telemetry/tracer.ts";
import type { Channel, ServedCall } from "../../base/threads/channel.ts";
import { plainData } from "../../base/threads/plain-data.ts";
import type { AdmittedCall, CallerIdentity, ServingPort } from "../../heritage/les/port.ts";
import type { RpcPorts } from "../../rpc/methods/rpc-ports.ts";
import type { JsonText } from "../../rpc/transport/codec.ts";
import type { CallQueue } from "../../rpc/transport/dispatch/call-queue.ts";
import { type Connection, inProcessContext, RequestContext } from "../../rpc/transport/dispatch/context.ts";
import type { Registry } from "../../rpc/transport/dispatch/method.ts";
import { MethodNotFoundError } from "../../rpc/transport/errors.ts";
import type { ChainHandlers, ForwardedCall, RpcProcessHandlers } from "./protocol.ts";

export type ServedCallsModules = {
  readonly registry: Registry<RpcPorts>;
  readonly ports: RpcPorts;
  /** undefined: callers are not metered */
  readonly serving: ServingPort | undefined;
  readonly queue: CallQueue;
  /** undefined while tracing is disabled */
  readonly tracer: Tracer | undefined;
  /** Whether a listener serves the method, at least to some callers. */
  readonly isServed: (method: string) => boolean;
};

/** A connection in an RPC process, as seen by methods in this process. */
class RemoteConnection implements Connection {
  readonly notify: Connection["notify"];
  readonly overrun: Connection["overrun"];
  readonly deliver: Connection["deliver"] = () => {
    throw new InvariantError("subscriptions are in the process of their connection");
  };
  readonly overCapacity: () => void;
  readonly #closeTasks: (() => void)[] = [];
  #isClosed = false;

  constructor(connection: number, channel: Channel<RpcProcessHandlers>) {
    this.notify = (messages) => channel.emit("notify", { connection, messages });
    this.overrun = () => channel.emit("overrun", { connection });
    this.overCapacity = () => channel.emit("overCapacity", { connection });
  }

  onClose(task: () => void): void {
    if (this.#isClosed) task();
    else this.#closeTasks.push(task);
  }

  close(): void {
    this.#isClosed = true;
    for (const task of this.#closeTasks.splice(0)) task();
  }
}

/** Runs the calls that one RPC process forwards after it has authorized the caller. Admits and charges the calls of all its callers. */
export class ServedCalls {
  readonly handlers: Pick<ChainHandlers, "run" | "admit" | "charge" | "gone"> = {
    run: (call, served) => this.#run(call, served),
    admit: ({ caller, connection }) => this.#admit(caller, connection),
    charge: ({ id, cost }) => this.#charge(id, cost),
    gone: ({ connection }) => this.#gone(connection),
  };
  readonly #modules: ServedCallsModules;
  readonly #channel: Channel<RpcProcessHandlers>;
  readonly #connections = new Map<number, RemoteConnection>();
  readonly #admitted = new Map<number, AdmittedCall>();
  #nextAdmitted = 1;
  #isClosed = false;

  constructor(modules: ServedCallsModules, channel: Channel<RpcProcessHandlers>) {
    this.#modules = modules;
    this.#channel = channel;
  }

  /** Called when the process has ended. */
  close(): void {
    this.#isClosed = true;
    for (const id of [...this.#admitted.keys()]) this.#charge(id, 0);
    for (const connection of [...this.#connections.keys()]) this.#gone(connection);
  }

  #run(call: ForwardedCall, served: ServedCall): JsonText | Promise<JsonText> {
    const { registry, ports, queue, tracer, isServed } = this.#modules;
    const method = registry.get(call.method);
    // The RPC process verifies tokens, so this process also refuses methods that no token allows.
    if (!method?.isForwarded || !isServed(call.method)) throw new MethodNotFoundError(call.method);
    const { access, credential } = inProcessContext();
    const { transport, connection, address } = call;
    const context = new RequestContext({
      transport,
      access,
      credential,
      connection: connection === undefined ? undefined : this.#connection(connection),
      ...(address !== undefined && { source: { remoteAddress: address, apiKey: undefined, certified: undefined } }),
    });
    served.signal.addEventListener("abort", () => context.abort(), { once: true });
    served.afterReply = () => context.replied();
    const run = () => method.run(ports, call.params, context);
    const start = () => (method.isHeavy ? queue.run(context, run) : run());
    const result = tracer === undefined ? start() : this.#traced(call, tracer, start);
    return result instanceof Promise ? result.then(plainJson) : plainJson(result);
  }

  /** Its span is a child of the RPC process's span. */
  async #traced(
    { method, traceparent }: ForwardedCall,
    tracer: Tracer,
    run: () => JsonText | Promise<JsonText>,
  ): Promise<JsonText> {
    const span = tracer.start(`${method} in the chain's process`, { parent: traceparent });
    try {
      const result = await run();
      span.end();
      return result;
    } catch (error) {
      span.end(errorTypeOf(error));
      throw error;
    }
  }

  async #admit(caller: CallerIdentity, connection: number | undefined) {
    const { serving } = this.#modules;
    invariant(serving !== undefined, "a process asks for admission only where calls are charged");
    const closable = connection === undefined ? undefined : this.#connection(connection);
    const call = await serving.admit(caller, closable);
    const id = this.#nextAdmitted++;
    if (this.#isClosed) serving.charge(call, 0);
    else this.#admitted.set(id, call);
    return { id, call };
  }

  #charge(id: number, cost: number): void {
    const call = this.#admitted.get(id);
    this.#admitted.delete(id);
    if (call !== undefined) this.#modules.serving?.charge(call, cost);
  }

  #gone(connection: number): void {
    this.#connections.get(connection)?.close();
    this.#connections.delete(connection);
  }

  #connection(id: number): RemoteConnection {
    const known = this.#connections.get(id);
    if (known !== undefined) return known;
    const connection = new RemoteConnection(id, this.#channel);
    this.#connections.set(id, connection);
    return connection;
  }
}

function plainJson(json: JsonText): JsonText {
  return plainData(json) as JsonText;
}
