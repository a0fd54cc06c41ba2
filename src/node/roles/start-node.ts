import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { createFailures, type Failures } from "../../base/telemetry/failures.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import { createMetrics, type Metrics, mergeExpositions, renewableMetrics } from "../../base/telemetry/metrics.ts";
import { createTimers, type Timers } from "../../base/telemetry/timers.ts";
import type { SyncedEngine } from "../../consensus/cometbft/state-sync.ts";
import { Contracts } from "../../dev/artifacts/contracts.ts";
import { readArtifacts } from "../../dev/artifacts/read-artifacts.ts";
import type { LoadedState } from "../../dev/state-dump.ts";
import type { ExecutionPort } from "../../rpc/ports/execution.ts";
import type { Readiness } from "../../rpc/ports/node.ts";
import { forkInfoOf } from "../adapters/node-port.ts";
import type { NodeProvider } from "../adapters/provider.ts";
import type { Listener } from "../adapters/rpc-endpoints.ts";
import type { Config } from "../config/config.ts";
import { invalidSetting } from "../config/errors.ts";
import { assertPhrase } from "../config/genesis/dev-wallet.ts";
import { isInMemory } from "../config/home.ts";
import { clientVersion } from "../config/package.ts";
import { openTlsFiles } from "../config/tls-files.ts";
import { type ActivityLog, activityOf } from "../observe/activity/activity-log.ts";
import { showChain } from "../observe/activity/show-chain.ts";
import { declareChainMetrics } from "../observe/chain-metrics.ts";
import { DiskUsage } from "../observe/disk-usage.ts";
import { logBlocks, logTransactions } from "../observe/log-transactions.ts";
import { declareCertificateMetrics, listenMetrics, type MetricsListener } from "../observe/metrics-listener.ts";
import { ProjectNames } from "../observe/project-names.ts";
import { TransactionTracer } from "../observe/transaction-tracer.ts";
import type { RpcProcesses } from "../processes/rpc-processes.ts";
import { ChainRole, type ChainRoleHooks } from "./chain/chain-role.ts";
import { replayForkedTransactions } from "./chain/fork-transaction.ts";
import { finishLoading } from "./chain/loaded-state.ts";
import type * as NetworkEngine from "./chain/network-engine.ts";
import { type Fork, openFork } from "./chain/open-fork.ts";
import { openDevStateFiles, readDevState } from "./dev/dev-state-files.ts";
import { createLoadState } from "./dev/load-state.ts";
import { createReset } from "./dev/reset-chain.ts";
import { finishReset, removeChain } from "./dev/reset-home.ts";
import type { NodeTools } from "./node-tools.ts";
import { openTracer } from "./open-tracer.ts";
import { Resources } from "./resources.ts";
import { RpcRole } from "./rpc/rpc-role.ts";
import type { ChainStatus, RunningNode } from "./types.ts";

export type NodeHooks = Omit<ChainRoleHooks, "onFatal" | "fork"> & {
  /** Replaces the event loop's timers. Other threads and processes stay on the machine's time. */
  readonly timers?: Timers;
};

/**
 * Starts a node: chain first, then its listeners. If a listener cannot open, the chain is closed again.
 * @param hooks for tests that inject faults and clocks
 */
export function startNode(config: Config, log: Logger, hooks: NodeHooks = {}): Promise<NodeInProcess> {
  return NodeInProcess.start(config, log, hooks);
}

/** A running node with its internals, for programs that hold one in process. */
export class NodeInProcess implements RunningNode {
  readonly failure: Promise<unknown>;
  readonly failures: Failures;
  readonly timers: Timers;
  readonly #config: Config;
  readonly #log: Logger;
  readonly #hooks: NodeHooks;
  readonly #metrics: Metrics = renewableMetrics(createMetrics());
  readonly #resources = new Resources();
  readonly #networkEngine: typeof NetworkEngine | undefined;
  readonly #contracts: Contracts | undefined;
  /** Set if the log shows activity to users of a dev chain. */
  readonly #activity: ActivityLog | undefined;
  #onFatal: (error: unknown) => void = () => {};
  #synced: SyncedEngine | undefined;
  #tools: NodeTools;
  #role: ChainRole | undefined;
  #rpc: RpcRole | undefined;
  #status: ChainStatus | undefined;
  #measured: MetricsListener | undefined;
  #stopping: Promise<void> | undefined;

  private constructor(config: Config, log: Logger, hooks: NodeHooks, networkEngine: typeof NetworkEngine | undefined) {
    this.#config = config;
    this.#log = log;
    this.#hooks = hooks;
    this.#networkEngine = networkEngine;
    this.#activity = activityOf(log);
    this.#contracts = config.dev ? readContracts(config, log) : undefined;
    // Without artifacts, the log shows calls by their selectors.
    if (config.dev && config.devChain.printTraces) this.#contracts ??= new Contracts();
    this.failures = createFailures(log, this.#metrics);
    const machineTimers = createTimers(this.failures);
    this.timers = hooks.timers ?? machineTimers;
    const { failures, timers } = this;
    this.#tools = { log, metrics: this.#metrics, failures, timers, machineTimers, tracer: undefined };
    this.failure = new Promise((settle) => {
      this.#onFatal = settle;
    });
  }

  static async start(config: Config, log: Logger, hooks: NodeHooks): Promise<NodeInProcess> {
    const networkEngine =
      config.consensus.engine === "cometbft" ? await import("./chain/network-engine.ts") : undefined;
    const node = new NodeInProcess(config, log, hooks, networkEngine);
    await node.#resources.during(() => node.#open());
    return node;
  }

  /** The current chain, which a reset replaces. */
  get core(): ChainRole {
    return this.#role!;
  }

  get provider(): NodeProvider {
    return this.#rpc!.provider;
  }

  /** undefined: this process serves every connection */
  get processes(): RpcProcesses | undefined {
    return this.#rpc?.processes;
  }

  get chain(): ChainStatus {
    return this.#status!;
  }

  get listeners(): readonly Listener[] {
    const { listeners } = this.#rpc!;
    const url = this.#measured?.url;
    if (url === undefined) return listeners;
    return [...listeners, { kind: "metrics", url, namespaces: [], needsToken: false }];
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#resources.close();
    return this.#stopping;
  }

  async #open(): Promise<void> {
    const config = this.#config;
    const resources = this.#resources;
    const { log, metrics, failures, timers, machineTimers } = this.#tools;
    const tracer = await openTracer(config, { log, metrics, timers: machineTimers });
    resources.add(() => tracer?.close());
    this.#tools = { ...this.#tools, tracer };
    this.#synced = await this.#networkEngine?.syncFromPeers(config, {
      metrics,
      log: log.child("state-sync"),
      timers: machineTimers,
    });
    // After state sync CometBFT already runs, and must end if no chain opens for it.
    let hasEngine = false;
    resources.add(() => (hasEngine ? undefined : this.#synced?.close()));
    if (config.dev) await assertPhrase(config);
    if (config.dev && !isInMemory(config)) finishReset(config.home);
    const state = await readDevState(config, timers, log.child("dev"));
    const fork = await openFork(config, { log: log.child("fork"), timers: machineTimers });
    this.#role = await this.#openRole({ fork, loaded: fork === undefined ? state : undefined });
    resources.add(() => this.#role!.stop());
    this.#status = statusOf(this.#role);
    const stateFiles = await openDevStateFiles(config, () => this.core, state, {
      log: log.child("dev"),
      failures,
      timers,
    });
    resources.add(() => stateFiles.close());
    const tls = openTlsFiles(config, { log: log.child("tls"), timers });
    resources.add(() => tls?.close());
    if (config.metrics.enable) {
      this.#measured = await listenMetrics({
        address: config.metrics.address,
        allowedHosts: config.jsonRpc.vhosts,
        exposition: () => this.exposition(),
        readiness: () => this.readiness(),
      });
      resources.add(() => this.#measured?.close());
      if (tls !== undefined) declareCertificateMetrics(metrics, tls);
      if (!isInMemory(config)) {
        const usage = new DiskUsage(config.home, { metrics, timers });
        resources.add(() => usage.close());
      }
    }
    this.#rpc = await RpcRole.start(config, {
      ...this.#tools,
      role: this.#role,
      activity: this.#activity,
      readiness: () => this.readiness(),
      tls,
      artifacts: this.#contracts,
      reset: createReset(config, {
        role: () => this.core,
        whileIdle: (work) => this.#rpc!.whileIdle(work),
        replace: (fork) => this.#replaceRole({ fork }),
        onFatal: this.#onFatal,
        log: log.child("fork"),
        timers: machineTimers,
      }),
      loadState: createLoadState(config, {
        role: () => this.core,
        whileIdle: (work) => this.#rpc!.whileIdle(work),
        replace: (loaded) => this.#replaceRole({ loaded }),
        onFatal: this.#onFatal,
      }),
    });
    resources.add(() => this.#rpc?.close());
    this.#logTransactions(this.#rpc.execution);
    await this.#role.start();
    await replayForkedTransactions(config, this.#role, machineTimers);
    hasEngine = true;
  }

  /** @param beginning initial data of a chain besides its genesis */
  async #openRole({ fork, loaded }: Beginning): Promise<ChainRole> {
    const blocks = loaded?.blocks.length ?? 0;
    try {
      const role = new ChainRole(
        this.#config,
        { ...this.#tools, networkEngine: this.#networkEngine, synced: this.#synced },
        { ...this.#hooks, onFatal: this.#onFatal, fork, loaded: blocks > 0 ? loaded : undefined },
      );
      if (blocks > 0 && !isInMemory(this.#config)) finishLoading(this.#config.home);
      declareChainMetrics(this.#metrics, role);
      declareNodeMetrics(this.#metrics, () => this.readiness());
      if (!this.#showsBlocks) logBlocks(role.chain, this.#log.child("chain"));
      return role;
    } catch (error) {
      await fork?.close();
      throw error;
    }
  }

  /** Replaces the chain while listeners and connections stay. */
  async #replaceRole(beginning: Beginning): Promise<void> {
    const { home } = this.#config;
    await this.#rpc!.replaceChain(async () => {
      await this.#role!.stop();
      finishReset(home);
      if (beginning.loaded !== undefined && !isInMemory(this.#config)) removeChain(home);
      this.#role = await this.#openRole(beginning);
      await this.#role.start();
      return this.#role;
    });
    this.#logTransactions(this.#rpc!.execution);
  }

  /** Whether a load balancer should send requests here. */
  readiness(): Readiness {
    const stalled = this.core.production.stalled();
    return {
      ready: this.#stopping === undefined && stalled === undefined,
      head: this.core.chain.head().block.header.number,
      ...(stalled !== undefined && {
        reason: stalled instanceof Error ? stalled.message : String(stalled),
      }),
    };
  }

  /** The metrics of this process and of the RPC processes, as text for Prometheus. */
  async exposition(): Promise<string> {
    const own = this.#metrics.exposition();
    if (this.processes === undefined) return own;
    return mergeExpositions([own, ...(await this.processes.expositions())]);
  }

  /** Whether the log for users shows blocks with their transactions. */
  get #showsBlocks(): boolean {
    return this.#config.dev && this.#activity !== undefined;
  }

  #logTransactions(execution: ExecutionPort): void {
    if (!this.#config.dev) return;
    const { timers } = this;
    const { chain, devChain, opened, pool } = this.core;
    const accounts = opened.devAccounts;
    const names = new ProjectNames(this.#contracts, { chain, accounts });
    const { transactionMs, callMs } = this.#config.limits.details;
    const tracer = new TransactionTracer(names, execution, transactionMs);
    if (this.#activity === undefined) {
      const log = this.#log.child("chain");
      logTransactions({ chain, devChain }, { log, timers, tracer, hasArtifacts: this.#contracts !== undefined });
      return;
    }
    showChain(this.#activity, {
      timers,
      chain,
      devChain,
      mempool: pool.mempool,
      names,
      tracer,
      accounts,
      methods: () => this.#rpc!.methods,
      traceCall: (params) => this.provider.request({ method: "debug_traceCall", params }),
      callMs,
    });
  }
}

type Beginning = { readonly fork?: Fork | undefined; readonly loaded?: LoadedState | undefined };

function declareNodeMetrics(metrics: Metrics, readiness: () => Readiness): void {
  const ready = () => (readiness().ready ? 1 : 0);
  metrics.gaugeOf({ name: "ready", help: "1 while /readyz returns 200." }, ready);
  const build = metrics.gauge({
    name: "build_info",
    help: "Always 1; the label has the version of the program.",
    labels: ["version"],
  });
  build.set(1, { version: clientVersion() });
}

function statusOf({ chain, opened }: ChainRole): ChainStatus {
  const { header } = chain.head().block;
  const { resumed, devAccounts, devWallet, fork, genesis } = opened;
  const { timestamp, gasLimit, baseFeePerGas = 0n } = fork?.base.block.header ?? genesis;
  return {
    chainId: chain.config.chainId,
    head: header.number,
    headTimestamp: header.timestamp,
    resumed,
    fork: fork && forkInfoOf(fork),
    first: { number: fork?.base.block.header.number ?? 0, timestamp, gasLimit, baseFeePerGas },
    devWallet,
    devAccounts,
  };
}

/** The contracts of `--artifacts`. @throws InvalidConfigError */
function readContracts({ devChain: { artifacts: directory } }: Config, log: Logger): Contracts | undefined {
  if (directory === null) return undefined;
  if (!existsSync(directory)) throw invalidSetting("artifacts", `no folder ${directory}`);
  const contracts = readArtifacts(resolve(directory), (file, reason) => {
    log.warn("skipped an unusable artifact", { file, reason });
  });
  log.info("artifacts read", { directory, contracts: contracts.size });
  return contracts;
}
