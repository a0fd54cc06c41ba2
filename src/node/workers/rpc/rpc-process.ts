import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import type { RpcPorts } from "../../../rpc/methods/rpc-ports.ts";
import { serveChannel } from "../../../rpc/ports/channel/channel-server.ts";
import { errorFromData } from "../../../rpc/ports/channel/error-data.ts";
import type { TcpKind } from "../../../rpc/transport/server/listener.ts";
import type { Logger } from "../../../telemetry/logger.ts";
import { forkWorker } from "../start-worker.ts";
import { MultiplexedPort } from "./multiplexed-port.ts";
import { Outbox } from "./outbox.ts";
import type { FromWorker, RpcWorkerData, ToWorker } from "./rpc-protocol.ts";
import { ServedCalls, type ServedCallsModules } from "./served-calls.ts";

/** A process that does not report its metrics for so long is reported with those it had. */
const METRICS_TIMEOUT_MS = 1_000;
/** Beyond the time that running calls have, for the connections to be closed. */
const SHUT_MARGIN_MS = 1_000;
const SHUT_GRACE_MS = 5_000;

export type RpcProcessModules = Omit<ServedCallsModules, "post" | "ports"> & {
  readonly ports: RpcPorts;
  readonly log: Logger;
  readonly onReady: () => void;
  /** The process has ended, whatever the reason. */
  readonly onExit: (reason: string) => void;
  readonly onBadToken: (source: string) => void;
};

/** One RPC process, as the chain's process sees it. */
export class RpcProcess {
  readonly #child: ChildProcess;
  readonly #modules: RpcProcessModules;
  readonly #outbox: Outbox<ToWorker>;
  readonly #port: MultiplexedPort;
  readonly #calls: ServedCalls;
  readonly #closePorts: () => void;
  readonly #onShut = new Map<TcpKind, () => void>();
  readonly #onMetrics = new Map<number, (exposition: string) => void>();
  #nextMetrics = 1;
  #exposition = "";
  #isReady = false;
  #isOver = false;
  readonly #connections: Record<TcpKind, number> = { http: 0, ws: 0 };

  constructor(data: RpcWorkerData, modules: RpcProcessModules) {
    this.#modules = modules;
    this.#child = forkWorker("rpc-worker");
    this.#outbox = new Outbox((messages) => this.#send(messages), { isAfterTurn: true });
    const post = (message: ToWorker) => this.#outbox.post(message);
    this.#port = new MultiplexedPort((message) => post({ kind: "port", message } as ToWorker));
    this.#calls = new ServedCalls({ ...modules, post });
    this.#send([{ kind: "start", data }]);
    this.#closePorts = serveChannel(this.#port, modules.ports).close;
    this.#child.on("message", (messages: readonly FromWorker[]) => {
      for (const message of messages) this.#receive(message);
    });
    this.#child.on("error", (error) => modules.log.error("RPC process failed", { error }));
    this.#child.once("exit", (code, signal) => this.#ended(`${signal ?? code}`));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** It can be handed connections. */
  get isReady(): boolean {
    return this.#isReady && !this.#isOver;
  }

  /** Connections of a listener that it was handed and has not closed. */
  connectionsOf(listener: TcpKind): number {
    return this.#connections[listener];
  }

  post(message: ToWorker): void {
    this.#outbox.post(message);
  }

  /** Posts what later connections depend on: it arrives before them. */
  postNow(message: ToWorker): void {
    this.#send([message]);
  }

  handOver(listener: TcpKind, socket: Socket): void {
    this.#connections[listener]++;
    this.#send([{ kind: "connection", listener }], socket);
  }

  /** Settles when the listener's connections are closed, or the process is ended because they are not. */
  async shut(listener: TcpKind, graceMs = SHUT_GRACE_MS): Promise<void> {
    if (!this.isReady) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#modules.log.warn("RPC process did not close its connections in time", { listener });
        this.kill();
      }, graceMs + SHUT_MARGIN_MS);
      this.#onShut.set(listener, () => {
        clearTimeout(timer);
        resolve();
      });
      this.postNow({ kind: "shut", listener, graceMs });
    });
  }

  /** Its metrics in Prometheus' text form. */
  async exposition(): Promise<string> {
    if (!this.isReady) return this.#exposition;
    const id = this.#nextMetrics++;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, METRICS_TIMEOUT_MS);
      this.#onMetrics.set(id, (exposition) => {
        this.#exposition = exposition;
        clearTimeout(timer);
        resolve();
      });
      this.postNow({ kind: "metrics", id });
    });
    this.#onMetrics.delete(id);
    return this.#exposition;
  }

  /** Lets the process end by itself; its connections are closed. */
  async close(): Promise<void> {
    if (this.#isOver) return;
    const exited = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    const timer = setTimeout(() => this.kill(), SHUT_MARGIN_MS);
    if (this.#child.connected) this.#child.disconnect();
    await exited;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  #send(messages: readonly ToWorker[], socket?: Socket): void {
    if (this.#isOver || !this.#child.connected) {
      socket?.destroy();
      return;
    }
    // An error means that the process is ending: `exit` follows.
    this.#child.send(messages as object, socket, (error) => {
      if (error !== null) socket?.destroy();
    });
  }

  #receive(message: FromWorker): void {
    switch (message.kind) {
      case "ready":
        this.#isReady = true;
        this.#modules.onReady();
        break;
      case "ended":
        this.#connections[message.listener] -= message.connections;
        break;
      case "shut":
        this.#onShut.get(message.listener)?.();
        this.#onShut.delete(message.listener);
        break;
      case "port":
        this.#port.receive(message.message);
        break;
      case "call":
        this.#calls.run(message);
        break;
      case "admit":
        void this.#calls.admit(message);
        break;
      case "charge":
        this.#calls.charge(message);
        break;
      case "abort":
        this.#calls.abort(message.id);
        break;
      case "gone":
        this.#calls.gone(message.connection);
        break;
      case "badToken":
        this.#modules.onBadToken(message.source);
        break;
      case "metrics":
        this.#onMetrics.get(message.id)?.(message.exposition);
        break;
      case "log": {
        const { level, message: text, data, error } = message;
        this.#modules.log[level](text, { ...data, ...(error && { error: errorFromData(error) }) });
      }
    }
  }

  #ended(reason: string): void {
    this.#isOver = true;
    this.#connections.http = 0;
    this.#connections.ws = 0;
    this.#closePorts();
    this.#calls.close();
    for (const resolve of this.#onShut.values()) resolve();
    this.#onShut.clear();
    this.#modules.onExit(reason);
  }
}
