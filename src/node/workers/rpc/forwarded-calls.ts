import type { RpcPorts } from "../../../rpc/methods/rpc-ports.ts";
import { errorFromData } from "../../../rpc/ports/channel/error-data.ts";
import type { JsonText } from "../../../rpc/transport/codec.ts";
import type { CallContext, Connection } from "../../../rpc/transport/dispatch/context.ts";
import type { RawParams } from "../../../rpc/transport/dispatch/message.ts";
import { type Method, namespaceOf, type Registry } from "../../../rpc/transport/dispatch/method.ts";
import type { FromWorker, ToWorker } from "./rpc-protocol.ts";

/** Namespaces of which an RPC process runs the methods: they reach everything through ports. */
const NAMESPACES = new Set([
  "web3",
  "net",
  "rpc",
  "eth",
  "txpool",
  "debug",
  "trace",
  "ots",
  "erigon",
]);

/** Their methods with a memory of their own: it is in the chain's process, whichever connection calls. */
const OF_THE_CHAIN = new Set([
  ...["eth_newFilter", "eth_newBlockFilter", "eth_newPendingTransactionFilter"],
  ...["eth_getFilterChanges", "eth_getFilterLogs", "eth_uninstallFilter"],
  ...["eth_sendTransaction", "eth_submitHashrate", "eth_hashrate"],
]);

/** Whether an RPC process runs the method; all others run in the chain's process. */
export function runsInWorker(name: string): boolean {
  return NAMESPACES.has(namespaceOf(name)) && !OF_THE_CHAIN.has(name);
}

/** Messages of the chain's process about calls and connections. */
type Received = "answer" | "failure" | "notify" | "overrun" | "overCapacity";

type Pending = {
  readonly resolve: (json: JsonText) => void;
  readonly reject: (error: Error) => void;
};

/** Calls that the chain's process runs for this one. */
export class ForwardedCalls {
  readonly #post: (message: FromWorker) => void;
  readonly #pending = new Map<number, Pending>();
  readonly #ids = new WeakMap<Connection, number>();
  readonly #connections = new Map<number, Connection>();
  #nextId = 1;

  constructor(post: (message: FromWorker) => void) {
    this.#post = post;
  }

  /** `methods`, of which those of the chain's process are forwarded to it. */
  registryOf(methods: Registry<RpcPorts>): Registry<RpcPorts> {
    return new Map(
      Array.from(methods, ([name, method]) => [
        name,
        runsInWorker(name) ? method : this.#forwarded(method),
      ]),
    );
  }

  /** The answer to a call, or a message to one of the connections. */
  receive(message: ToWorker & { kind: Received }): void {
    switch (message.kind) {
      case "answer":
        this.#take(message.id)?.resolve(message.json);
        break;
      case "failure":
        this.#take(message.id)?.reject(errorFromData(message.error));
        break;
      case "notify": {
        const { connection, messages } = message;
        // The answer before it is written first: its promise has yet to run.
        setImmediate(() => this.#connections.get(connection)?.notify(messages));
        break;
      }
      case "overrun":
        this.#connections.get(message.connection)?.overrun();
        break;
      case "overCapacity":
        this.#connections.get(message.connection)?.overCapacity?.();
    }
  }

  #forwarded(method: Method<RpcPorts>): Method<RpcPorts> {
    return {
      ...method,
      // It waits for its turn where it runs.
      isHeavy: false,
      run: (_ports, params, context) => this.#forward(method.name, params, context),
    };
  }

  #forward(method: string, params: RawParams, context: CallContext): Promise<JsonText> {
    const id = this.#nextId++;
    const connection = context.connection && this.connectionId(context.connection);
    const { transport, signal } = context;
    const abort = () => this.#post({ kind: "abort", id });
    signal.addEventListener("abort", abort, { once: true });
    return new Promise<JsonText>((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#post({ kind: "call", id, method, params, transport, connection });
    }).finally(() => signal.removeEventListener("abort", abort));
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
      this.#post({ kind: "gone", connection: id });
    });
    return id;
  }

  #take(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}
