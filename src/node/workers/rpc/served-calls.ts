import { InvariantError, invariant } from "../../../errors.ts";
import type { AdmittedCall, ServingPort } from "../../../les/port.ts";
import type { RpcPorts } from "../../../rpc/methods/rpc-ports.ts";
import { errorDataOf } from "../../../rpc/ports/channel/error-data.ts";
import { plainData } from "../../../rpc/ports/channel/plain-data.ts";
import type { JsonText } from "../../../rpc/transport/codec.ts";
import type { CallQueue } from "../../../rpc/transport/dispatch/call-queue.ts";
import {
  type Connection,
  inProcessContext,
  RequestContext,
} from "../../../rpc/transport/dispatch/context.ts";
import type { Registry } from "../../../rpc/transport/dispatch/method.ts";
import { MethodNotFoundError } from "../../../rpc/transport/errors.ts";
import type { FromWorker, ToWorker } from "./rpc-protocol.ts";

type Call = FromWorker & { readonly kind: "call" };
type Admit = FromWorker & { readonly kind: "admit" };
type Charge = FromWorker & { readonly kind: "charge" };

export type ServedCallsModules = {
  readonly registry: Registry<RpcPorts>;
  readonly ports: RpcPorts;
  /** undefined: callers are served alike */
  readonly serving: ServingPort | undefined;
  readonly queue: CallQueue;
  readonly post: (message: ToWorker) => void;
};

/** A connection in an RPC process, as methods in this one see it. */
class RemoteConnection implements Connection {
  readonly notify: Connection["notify"];
  readonly overrun: Connection["overrun"];
  readonly deliver: Connection["deliver"] = () => {
    throw new InvariantError("subscriptions are in the process of their connection");
  };
  readonly overCapacity: () => void;
  readonly #closeTasks: (() => void)[] = [];
  #isClosed = false;

  constructor(connection: number, post: (message: ToWorker) => void) {
    this.notify = (messages) => post({ kind: "notify", connection, messages });
    this.overrun = () => post({ kind: "overrun", connection });
    this.overCapacity = () => post({ kind: "overCapacity", connection });
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

/**
 * Runs the calls that one RPC process leaves to the chain's: it has decided already that the caller may make them. Admits and charges the calls
 * of all its callers.
 */
export class ServedCalls {
  readonly #modules: ServedCallsModules;
  readonly #running = new Map<number, RequestContext>();
  readonly #connections = new Map<number, RemoteConnection>();
  #isClosed = false;
  readonly #admitted = new Map<number, AdmittedCall>();

  constructor(modules: ServedCallsModules) {
    this.#modules = modules;
  }

  run(call: Call): void {
    const context = this.#contextOf(call);
    this.#running.set(call.id, context);
    try {
      const result = this.#resultOf(call, context);
      if (result instanceof Promise) {
        result.then(
          (json) => this.#succeed(call.id, json, context),
          (error) => this.#fail(call.id, error),
        );
      } else this.#succeed(call.id, result, context);
    } catch (error) {
      this.#fail(call.id, error);
    }
  }

  async admit({ id, caller, connection }: Admit): Promise<void> {
    const { serving, post } = this.#modules;
    invariant(serving !== undefined, "a process asks for admission only where calls are charged");
    try {
      const closable = connection === undefined ? undefined : this.#connection(connection);
      const call = await serving.admit(caller, closable);
      if (this.#isClosed) serving.charge(call, 0);
      else this.#admitted.set(id, call);
      post({ kind: "admitted", id, call });
    } catch (error) {
      post({ kind: "notAdmitted", id, error: errorDataOf(error) });
    }
  }

  charge({ id, cost }: Charge): void {
    const call = this.#admitted.get(id);
    this.#admitted.delete(id);
    if (call !== undefined) this.#modules.serving?.charge(call, cost);
  }

  abort(id: number): void {
    this.#running.get(id)?.abort();
  }

  /** That connection is closed. */
  gone(connection: number): void {
    this.#connections.get(connection)?.close();
    this.#connections.delete(connection);
  }

  /** The process ended. */
  close(): void {
    this.#isClosed = true;
    for (const id of [...this.#admitted.keys()]) this.charge({ kind: "charge", id, cost: 0 });
    for (const context of this.#running.values()) context.abort();
    for (const connection of [...this.#connections.keys()]) this.gone(connection);
  }

  #resultOf({ method: name, params }: Call, context: RequestContext): JsonText | Promise<JsonText> {
    const { registry, ports, queue } = this.#modules;
    const method = registry.get(name);
    if (method === undefined) throw new MethodNotFoundError(name);
    if (!method.isHeavy) return method.run(ports, params, context);
    return queue.run(context, () => method.run(ports, params, context));
  }

  #contextOf({ transport, connection }: Call): RequestContext {
    const { access, credential } = inProcessContext();
    return new RequestContext({
      ...{ transport, access, credential },
      connection: connection === undefined ? undefined : this.#connection(connection),
    });
  }

  #connection(id: number): RemoteConnection {
    const known = this.#connections.get(id);
    if (known !== undefined) return known;
    const connection = new RemoteConnection(id, this.#modules.post);
    this.#connections.set(id, connection);
    return connection;
  }

  #succeed(id: number, json: JsonText, context: RequestContext): void {
    this.#running.delete(id);
    this.#modules.post({ kind: "answer", id, json: plainData(json) as JsonText });
    context.replied();
  }

  #fail(id: number, error: unknown): void {
    this.#running.delete(id);
    this.#modules.post({ kind: "failure", id, error: errorDataOf(error) });
  }
}
