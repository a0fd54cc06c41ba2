import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { InvalidConfigError } from "../config/errors.ts";
import { isInMemory } from "../config/home.ts";
import type { SyncedEngine } from "../consensus/cometbft/state-sync.ts";
import type { Contracts } from "../dev/artifacts/contracts.ts";
import { readArtifacts } from "../dev/artifacts/read-artifacts.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import { createFailures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import { mergeExpositions } from "../telemetry/merge-expositions.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { renewableMetrics } from "../telemetry/renewable-metrics.ts";
import { type ChainCore, type ChainCoreHooks, composeChain } from "./compose/compose-chain.ts";
import { type Fork, openFork } from "./compose/open-fork.ts";
import { openDevStateFiles } from "./dev/dev-state-files.ts";
import { createReset } from "./dev/reset-chain.ts";
import { finishReset } from "./dev/reset-home.ts";
import { createArtifactLog } from "./observe/artifact-log.ts";
import { declareChainMetrics } from "./observe/chain-metrics.ts";
import { logTransactions } from "./observe/log-transactions.ts";
import { listenMetrics } from "./observe/metrics-listener.ts";
import type { InProcessProvider } from "./provider.ts";
import { type OpenListeners, startListeners } from "./start-listeners.ts";
import type { RunningNode } from "./types.ts";
import type { RpcProcesses } from "./workers/rpc/rpc-processes.ts";

/** A running node with its inside, for programs that hold one in process. */
export type NodeInProcess = RunningNode & {
  readonly core: ChainCore;
  readonly provider: InProcessProvider;
  /** undefined: this process serves every connection */
  readonly processes: RpcProcesses | undefined;
};

/**
 * Starts a node: chain first, then its listeners. When a listener cannot open, the chain is closed again.
 * @param hooks for tests that inject faults and clocks
 */
export async function startNode(
  config: Config,
  log: Logger,
  hooks: Omit<ChainCoreHooks, "onFatal"> = {},
): Promise<NodeInProcess> {
  let onFatal: (error: unknown) => void = () => {};
  const failure = new Promise<unknown>((resolve) => {
    onFatal = resolve;
  });
  const metrics = renewableMetrics(createMetrics());
  const failures = createFailures(log, metrics);
  const networkEngine =
    config.consensus.engine === "cometbft"
      ? await import("./compose/compose-engine.ts")
      : undefined;
  const synced = await networkEngine?.syncFromPeers(config, log.child("state-sync"));
  const forkLog = log.child("fork");
  const openCore = (fork: Fork | undefined) =>
    composeOrClose(fork, synced, () =>
      composeChain(
        config,
        { log, metrics, failures, networkEngine, synced },
        { ...hooks, onFatal, fork },
      ),
    );
  if (config.dev && !isInMemory(config)) finishReset(config.home);
  let core = await openCore(await openFork(config, forkLog));
  let stopping: Promise<void> | undefined;
  try {
    observeChain(core, metrics, log);
    const stateFiles = await openDevStateFiles(config, () => core, {
      log: log.child("dev"),
      failures,
    });
    const { header } = core.chain.head().block;
    const { resumed, devAccounts } = core;
    const { chainId } = core.chain.config;
    const readiness = () => ({
      ready: stopping === undefined && core.stalled() === undefined,
      head: core.chain.head().block.header.number,
      ...(core.stalled() !== undefined && { reason: reasonOf(core.stalled()) }),
    });
    let processes: RpcProcesses | undefined;
    const measured = config.metrics.enable
      ? await listenMetrics({
          address: config.metrics.address,
          allowedHosts: config.jsonRpc.vhosts,
          exposition: () =>
            processes ? wholeExposition(metrics, processes) : metrics.exposition(),
          readiness,
        })
      : undefined;
    const contracts = config.dev ? readContracts(config, log) : undefined;
    const logChain = (execution: ExecutionPort) => {
      if (!config.dev) return;
      const artifacts =
        contracts && createArtifactLog(contracts, { chain: core.chain, tracing: execution });
      logTransactions(core, execution, { log: log.child("chain"), failures, artifacts });
    };
    const opened: OpenListeners = await startListeners(
      config,
      log,
      core,
      metrics,
      readiness,
      failures,
      createReset(config, {
        core: () => core,
        whileIdle: (work) => opened.whileIdle(work),
        async replace(fork) {
          const newExecution = await opened.replaceChain(async () => {
            await closeCore(core);
            finishReset(config.home);
            core = await openCore(fork);
            observeChain(core, metrics, log);
            await core.start();
            return core;
          });
          logChain(newExecution);
        },
        onFatal,
        log: forkLog,
      }),
    ).catch((error) => {
      measured?.close();
      throw error;
    });
    processes = opened.processes;
    const { listeners, provider, close } = opened;
    logChain(opened.execution);
    await core.start();
    async function stop(): Promise<void> {
      try {
        await close();
      } finally {
        // Whatever a listener's trouble is: the store must be closed.
        measured?.close();
        await stateFiles.close();
        await closeCore(core);
      }
    }
    return {
      get core() {
        return core;
      },
      provider,
      processes,
      listeners: measured
        ? [...listeners, { kind: "metrics", url: measured.url, namespaces: [], needsToken: false }]
        : listeners,
      chain: {
        chainId,
        head: header.number,
        headTimestamp: header.timestamp,
        resumed,
        devAccounts,
      },
      failure,
      failures,
      stop() {
        stopping ??= stop();
        return stopping;
      },
    };
  } catch (error) {
    core.store.close();
    await core.fork?.close();
    await synced?.close();
    throw error;
  }
}

/** CometBFT runs already after state sync, and ends when there is no chain for it. */
async function composeOrClose(
  fork: Fork | undefined,
  synced: SyncedEngine | undefined,
  compose: () => ChainCore,
): Promise<ChainCore> {
  try {
    return compose();
  } catch (error) {
    await fork?.close();
    await synced?.close();
    throw error;
  }
}

/** Of this process and of those that serve connections. */
async function wholeExposition(metrics: Metrics, processes: RpcProcesses): Promise<string> {
  return mergeExpositions([metrics.exposition(), ...(await processes.expositions())]);
}

async function closeCore(core: ChainCore): Promise<void> {
  await core.stop();
  core.store.close();
  await core.fork?.close();
}

/** The contracts of `dev.artifacts`. @throws InvalidConfigError */
function readContracts(
  { devChain: { artifacts: directory } }: Config,
  log: Logger,
): Contracts | undefined {
  if (directory === null) return undefined;
  if (!existsSync(directory)) {
    const key = "dev.artifacts";
    throw new InvalidConfigError(`${key}: no folder ${directory}`, { key });
  }
  const contracts = readArtifacts(resolve(directory));
  log.info("artifacts read", { directory, contracts: contracts.size });
  return contracts;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function observeChain(core: ChainCore, metrics: Metrics, log: Logger): void {
  declareChainMetrics(metrics, core);
  logBlocks(core, log.child("chain"));
}

/** One line a block. */
function logBlocks({ chain }: ChainCore, log: Logger): void {
  chain.subscribe(({ executed: { block } }) => {
    const { number, gasUsed } = block.header;
    const { hash, transactions } = block;
    log.info("block committed", { number, hash, transactions: transactions.length, gasUsed });
  });
}
