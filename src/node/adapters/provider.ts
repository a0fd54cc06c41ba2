import { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Timer } from "../../base/telemetry/timers.ts";
import type { RpcPorts } from "../../rpc/methods/rpc-ports.ts";
import { OWNER } from "../../rpc/transport/auth/credential.ts";
import { jsonString } from "../../rpc/transport/codec.ts";
import { type Connection, RequestContext } from "../../rpc/transport/dispatch/context.ts";
import { toErrorObject } from "../../rpc/transport/dispatch/error-codes.ts";
import { namespaceOf, type Registry } from "../../rpc/transport/dispatch/method.ts";
import { type InProcessProvider, type ProviderRequest, ProviderRpcError } from "./provider-types.ts";

/** EIP-1193's code for an unknown method. */
const UNSUPPORTED_METHOD = 4200;

/** Nothing happens when it expires: a waiting timer keeps the program alive. */
const DAY_MS = 86_400_000;

export class NodeProvider extends EventEmitter implements InProcessProvider {
  readonly #registry: Registry<RpcPorts>;
  readonly #modules: RpcPorts;
  readonly #namespaces: ReadonlySet<string>;
  readonly #connection: Connection;
  readonly #closeTasks: (() => void)[] = [];
  readonly #subscriptions = new Set<unknown>();
  #holding: Timer | undefined;
  #isClosed = false;

  constructor(registry: Registry<RpcPorts>, modules: RpcPorts) {
    super();
    this.#registry = registry;
    this.#modules = modules;
    this.#namespaces = new Set([...registry.keys()].map(namespaceOf));
    const notify = (message: string) => {
      const { method, params } = JSON.parse(message) as { method: string; params: unknown };
      this.emit("message", { type: method, data: params });
    };
    this.#connection = {
      notify: (messages) => messages.forEach(notify),
      deliver: async (message) => notify(jsonString(message)),
      // A program that holds the node cannot be disconnected from it, so this event's notifications are dropped.
      overrun() {},
      onClose: (task) => {
        if (this.#isClosed) task();
        else this.#closeTasks.push(task);
      },
    };
  }

  /**
   * Resolves in a later turn of the event loop, as over a socket. An instant block is made between two turns, so a caller that has a
   * transaction's hash finds its receipt.
   * @throws ProviderRpcError
   */
  async request({ method: name, params = [] }: ProviderRequest): Promise<unknown> {
    const method = this.#registry.get(name);
    if (method === undefined || this.#isClosed) {
      const message = this.#isClosed ? "the node is stopped" : `the method ${name} does not exist/is not available`;
      throw new ProviderRpcError({ code: UNSUPPORTED_METHOD, message });
    }
    const context = new RequestContext({
      transport: "inProcess",
      access: { namespaces: this.#namespaces, isOpen: true },
      credential: OWNER,
      connection: this.#connection,
    });
    try {
      const json = await method.run(this.#modules, Array.isArray(params) ? params : undefined, context);
      await nextTurn();
      const result: unknown = JSON.parse(jsonString(json));
      this.#watchSubscriptions(name, params, result);
      return result;
    } catch (error) {
      throw new ProviderRpcError(toErrorObject(error), { cause: error });
    } finally {
      // A notification must not overtake the id of its subscription.
      this.#modules.timers.soon("in-process call", () => context.replied());
    }
  }

  /** Keeps a program alive that only waits for notifications: the node's own timers do not. */
  #watchSubscriptions(method: string, params: unknown, result: unknown): void {
    if (method.endsWith("_subscribe")) this.#subscriptions.add(result);
    else if (method.endsWith("_unsubscribe") && Array.isArray(params)) this.#subscriptions.delete(params[0]);
    else return;
    this.#hold(this.#subscriptions.size > 0 && !this.#isClosed);
  }

  #hold(isHeld: boolean): void {
    if (!isHeld) {
      this.#holding?.cancel();
      this.#holding = undefined;
    } else this.#holding ??= this.#modules.timers.every(DAY_MS, "subscriptions", () => {}, { keepsAlive: true });
  }

  /** Ends every subscription; further requests are rejected. */
  close(): void {
    this.#isClosed = true;
    this.#hold(false);
    for (const task of this.#closeTasks) task();
  }
}
