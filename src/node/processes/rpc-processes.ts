import type { Socket } from "node:net";
import { join } from "node:path";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timer, Timers } from "../../base/telemetry/timers.ts";
import type { Tracer } from "../../base/telemetry/tracer.ts";
import { plainData } from "../../base/threads/plain-data.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import type { ServingPort } from "../../heritage/les/port.ts";
import type { RpcPorts } from "../../rpc/methods/rpc-ports.ts";
import { createAccessPolicy } from "../../rpc/transport/dispatch/access.ts";
import { CallQueue } from "../../rpc/transport/dispatch/call-queue.ts";
import type { AccessPolicy } from "../../rpc/transport/dispatch/context.ts";
import { namespaceOf, type Registry } from "../../rpc/transport/dispatch/method.ts";
import type { ConnectionWorkers, EndpointOptions, TcpKind, TlsMaterial } from "../../rpc/transport/server/listener.ts";
import type { ChainParts } from "../adapters/parts.ts";
import type { Config } from "../config/config.ts";
import { dataPath } from "../config/home.ts";
import type { ActivityLog } from "../observe/activity/activity-log.ts";
import type { RpcProcessData } from "./protocol.ts";
import { RpcProcess } from "./rpc-process.ts";
import { SubmittedSenders } from "./submitted-senders.ts";

/** Delay before a dead process is replaced; doubles with each failure in a row. */
const RESTART_MS = 500;
const RESTART_MS_MAX = 30_000;
/** A process that lived this long did not fail at its start. */
const STABLE_MS = 60_000;

type RpcProcessesOptions = {
  readonly count: number;
  readonly data: Omit<RpcProcessData, "index" | "count">;
  /** Calls that may queue in this process. */
  readonly callQueueMax: number;
};

type RpcProcessesModules = {
  readonly registry: Registry<RpcPorts>;
  readonly ports: RpcPorts;
  /** undefined: callers are not metered */
  readonly serving: ServingPort | undefined;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly timers: Timers;
  /** Number of rollbacks of the store so far. */
  readonly epoch: () => number;
  readonly onBadToken: (source: string) => void;
  /** undefined if single calls are not observed */
  readonly activity: ActivityLog | undefined;
  /** undefined while tracing is disabled */
  readonly tracer: Tracer | undefined;
};

type Slot = {
  readonly index: number;
  process: RpcProcess | undefined;
  startedMs: number;
  restartMs: number;
  timer: Timer | undefined;
};

/**
 * Processes that serve connections: this process accepts each connection and hands it to the one with the fewest. A dying process takes its
 * connections with it and is replaced; while none is ready, this process serves connections itself.
 */
export class RpcProcesses implements ConnectionWorkers {
  readonly #options: RpcProcessesOptions;
  readonly #modules: RpcProcessesModules;
  readonly #queue: CallQueue;
  readonly #senders: SubmittedSenders;
  readonly #slots: readonly Slot[];
  readonly #open = new Map<TcpKind, EndpointOptions>();
  readonly #policies = new Map<TcpKind, AccessPolicy>();
  readonly #stop: () => void;
  #tls: TlsMaterial | undefined;
  #waitingForReady: (() => void)[] = [];
  #isClosed = false;

  constructor(options: RpcProcessesOptions, modules: RpcProcessesModules) {
    this.#options = options;
    this.#modules = modules;
    this.#tls = options.data.tls;
    this.#queue = new CallQueue({ waitingMax: options.callQueueMax, onWaiting() {} }, modules.timers);
    this.#senders = new SubmittedSenders(options.count, modules);
    this.#slots = Array.from({ length: options.count }, (_, index) => ({
      index,
      process: undefined,
      startedMs: 0,
      restartMs: RESTART_MS,
      timer: undefined,
    }));
    this.#stop = modules.ports.chain.subscribe({
      onBlock: ({ block: { hash, header } }) => {
        for (const { channel } of this.#running()) {
          channel.emit("head", { number: header.number, hash });
        }
      },
      onRemoved: (removed) => {
        const blocks = plainData(removed) as readonly ExecutedBlock[];
        const epoch = modules.epoch();
        for (const { channel } of this.#running()) channel.emit("removed", { blocks, epoch });
      },
    });
    const { metrics } = modules;
    metrics.gaugeOf(
      { name: "rpc_processes_ready", help: "RPC processes that answer and accept connections." },
      () => this.#ready().length,
    );
    metrics.gaugeOf({ name: "rpc_process_connections", help: "Connections served by RPC processes." }, () =>
      this.#serving().reduce((sum, process) => sum + connectionsOf(process), 0),
    );
    this.#lost = metrics.counter({
      name: "rpc_processes_lost_total",
      help: "RPC processes that died with their connections; the node replaces them.",
    });
    for (const slot of this.#slots) this.#start(slot);
  }

  readonly #lost: ReturnType<Metrics["counter"]>;

  /** Settles once every process serves connections, or the node stops. */
  async ready(): Promise<void> {
    while (!this.#isClosed && this.#ready().length < this.#options.count) {
      await new Promise<void>((resolve) => this.#waitingForReady.push(resolve));
    }
  }

  /** Process ids of the running processes. */
  get pids(): readonly number[] {
    return this.#running().flatMap(({ pid }) => pid ?? []);
  }

  opened(kind: TcpKind, endpoint: EndpointOptions): void {
    const plain = { ...endpoint, namespaces: [...endpoint.namespaces] };
    this.#open.set(kind, plain);
    this.#policies.set(kind, createAccessPolicy(plain, this.#modules.registry.keys()));
    for (const process of this.#running()) process.open({ listener: kind, endpoint: plain });
  }

  /**
   * Hands a socket to the first of the processes with the fewest connections of the listener. While the total is below the limit, that process
   * has not reached its share (`sharedLimits`).
   */
  handOver(kind: TcpKind, socket: Socket): boolean {
    let best: RpcProcess | undefined;
    for (const process of this.#ready()) {
      if (!best || process.connectionsOf(kind) < best.connectionsOf(kind)) best = process;
    }
    best?.handOver(kind, socket);
    return best !== undefined;
  }

  /** Sets the certificate of later connections. */
  setTls(tls: TlsMaterial): void {
    this.#tls = tls;
    for (const process of this.#running()) process.setTls(tls);
  }

  async shut(kind: TcpKind, graceMs: number | undefined): Promise<void> {
    this.#open.delete(kind);
    this.#policies.delete(kind);
    await Promise.all(this.#serving().map((process) => process.shut(kind, graceMs)));
  }

  /** Counts a bad token from a source, sent to process `except` or to this one. */
  countBadToken(source: string, except?: RpcProcess): void {
    for (const process of this.#serving()) {
      if (process !== except) process.channel.emit("badToken", { source });
    }
  }

  /** The metrics of all processes, in Prometheus' text form. */
  expositions(): Promise<string[]> {
    return Promise.all(this.#serving().map((process) => process.exposition()));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stop();
    this.#wake();
    const closing = this.#slots.map(({ process, timer }) => {
      timer?.cancel();
      return process?.close();
    });
    await Promise.all([...closing, this.#senders.close()]);
  }

  #start(slot: Slot): void {
    const { data, count } = this.#options;
    const { registry, ports, serving, log, timers, tracer } = this.#modules;
    slot.startedMs = timers.now();
    const child = new RpcProcess(
      { ...data, tls: this.#tls, index: slot.index, count },
      {
        registry,
        ports,
        serving,
        tracer,
        queue: this.#queue,
        senders: this.#senders,
        isServed: (method) => this.#isServed(method),
        log,
        timers,
        onReady: () => this.#wake(),
        onExit: (reason) => this.#ended(slot, reason),
        onBadToken: (source) => {
          this.#modules.onBadToken(source);
          this.countBadToken(source, child);
        },
        onCalls: ({ records, more }) => this.#modules.activity?.merge(records, more),
      },
    );
    slot.process = child;
    for (const [listener, endpoint] of this.#open) {
      child.open({ listener, endpoint });
    }
  }

  #ended(slot: Slot, reason: string): void {
    slot.process = undefined;
    if (this.#isClosed) return;
    const livedMs = this.#modules.timers.now() - slot.startedMs;
    if (livedMs > STABLE_MS) slot.restartMs = RESTART_MS;
    this.#lost.add();
    this.#modules.log.error("RPC process ended, starting another", {
      process: slot.index,
      reason,
      livedMs: Math.round(livedMs),
      afterMs: slot.restartMs,
    });
    slot.timer = this.#modules.timers.after(slot.restartMs, "start of an RPC process", () => this.#start(slot), {
      keepsAlive: true,
    });
    slot.restartMs = Math.min(RESTART_MS_MAX, slot.restartMs * 2);
  }

  #isServed(method: string): boolean {
    const namespace = namespaceOf(method);
    for (const { namespaces, deniedMethods } of this.#policies.values()) {
      const isOpen = namespaces.has(namespace) || namespace === "rpc";
      if (isOpen && !deniedMethods?.has(method)) return true;
    }
    return false;
  }

  #running(): RpcProcess[] {
    return this.#slots.flatMap(({ process }) => (process === undefined ? [] : [process]));
  }

  /** Processes with connections. */
  #serving(): RpcProcess[] {
    return this.#running().filter(({ isOpen }) => isOpen);
  }

  /** Processes that accept connections. */
  #ready(): RpcProcess[] {
    return this.#running().filter(({ isReady }) => isReady);
  }

  #wake(): void {
    for (const resolve of this.#waitingForReady.splice(0)) resolve();
  }
}

function connectionsOf(process: RpcProcess): number {
  return process.connectionsOf("http") + process.connectionsOf("ws");
}

/** Starts the configured number of processes that serve connections; undefined if it is zero. */
export function startRpcProcesses(
  config: Config,
  tls: TlsMaterial | undefined,
  modules: Omit<RpcProcessesModules, "epoch"> & {
    readonly core: Pick<ChainParts, "chain" | "store">;
    readonly genesisTime: number;
  },
): RpcProcesses | undefined {
  const { log } = modules;
  const { chain, store } = modules.core;
  const { processes: count, enable } = config.jsonRpc;
  if (count === 0 || !enable) return undefined;
  if (store.followable === undefined) {
    log.info("connections stay in the chain's process, because other processes cannot read an index in memory");
    return undefined;
  }
  const { directory } = store.followable;
  const head = join(dataPath(config.home), "head");
  const processes = new RpcProcesses(
    {
      count,
      data: {
        config,
        tls,
        store: { directory, head },
        opened: `${head}.opened`,
        chainConfig: chain.genesisConfig,
        genesisHash: chain.genesisHash,
        genesisTime: modules.genesisTime,
        chainPid: process.pid,
        reportsCalls: modules.activity !== undefined,
      },
      callQueueMax: config.limits.server.callQueueMax,
    },
    { ...modules, epoch: () => store.epoch },
  );
  // Publishes before any process starts.
  store.publishToFile(head, (error) => {
    log.error("could not publish the head to RPC processes: their connections move to the chain's process", {
      error,
    });
    void processes.close();
  });
  return processes;
}
