import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { InvalidConfigError } from "../config/errors.ts";
import type { SyncedEngine } from "../consensus/cometbft/state-sync-session.ts";
import { readArtifacts } from "../dev/artifacts/read-artifacts.ts";
import type { ExecutionPort } from "../rpc/ports/execution.ts";
import { createFailures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import { mergeExpositions } from "../telemetry/merge-expositions.ts";
import { createMetrics, type Metrics } from "../telemetry/metrics.ts";
import { type ChainCore, type ChainCoreHooks, composeChain } from "./compose/compose-chain.ts";
import { openFork } from "./compose/open-fork.ts";
import { openDevStateFiles } from "./dev/dev-state-files.ts";
import { type ArtifactLog, createArtifactLog } from "./observe/artifact-log.ts";
import { declareChainMetrics } from "./observe/chain-metrics.ts";
import { logTransactions } from "./observe/log-transactions.ts";
import { listenMetrics } from "./observe/metrics-listener.ts";
import type { InProcessProvider } from "./provider.ts";
import { startListeners } from "./start-listeners.ts";
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
  const metrics = createMetrics();
  const failures = createFailures(log, metrics);
  const networkEngine =
    config.consensus.engine === "cometbft"
      ? await import("./compose/compose-engine.ts")
      : undefined;
  const synced = await networkEngine?.syncFromPeers(config, log.child("state-sync"));
  const fork = await openFork(config);
  const core = await composeOrClose(synced, () =>
    composeChain(
      config,
      { log, metrics, failures, networkEngine, synced },
      { ...hooks, onFatal, fork },
    ),
  );
  let stopping: Promise<void> | undefined;
  try {
    declareChainMetrics(metrics, core);
    logBlocks(core, log.child("chain"));
    const stateFiles = await openDevStateFiles(config, core, { log: log.child("dev"), failures });
    const { header } = core.chain.head().block;
    const readiness = () => ({
      ready: stopping === undefined && core.stalled() === undefined,
      head: core.chain.head().block.header.number,
      ...(core.stalled() !== undefined && { reason: reasonOf(core.stalled()) }),
    });
    let processes: RpcProcesses | undefined;
    const measured = config.metrics.enable
      ? await listenMetrics(
          config.metrics.address,
          () => (processes ? wholeExposition(metrics, processes) : metrics.exposition()),
          readiness,
        )
      : undefined;
    const { listeners, provider, execution, close, ...opened } = await startListeners(
      config,
      log,
      core,
      metrics,
      readiness,
      failures,
    ).catch((error) => {
      measured?.close();
      throw error;
    });
    processes = opened.processes;
    if (config.dev) {
      const artifacts = openArtifacts(config, core, execution, log);
      logTransactions(core, execution, { log: log.child("chain"), failures, artifacts });
    }
    await core.start();
    async function stop(): Promise<void> {
      try {
        await close();
      } finally {
        // Whatever a listener's trouble is: the store must be closed.
        measured?.close();
        await stateFiles.close();
        await core.stop();
        core.store.close();
        await fork?.close();
      }
    }
    return {
      core,
      provider,
      processes,
      listeners: measured
        ? [...listeners, { kind: "metrics", url: measured.url, namespaces: [], needsToken: false }]
        : listeners,
      chain: {
        chainId: core.chain.config.chainId,
        head: header.number,
        headTimestamp: header.timestamp,
        resumed: core.resumed,
        devAccounts: core.devAccounts,
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
    await fork?.close();
    await synced?.close();
    throw error;
  }
}

/** CometBFT runs already after state sync, and ends when there is no chain for it. */
async function composeOrClose(
  synced: SyncedEngine | undefined,
  compose: () => ChainCore,
): Promise<ChainCore> {
  try {
    return compose();
  } catch (error) {
    await synced?.close();
    throw error;
  }
}

/** Of this process and of those that serve connections. */
async function wholeExposition(metrics: Metrics, processes: RpcProcesses): Promise<string> {
  return mergeExpositions([metrics.exposition(), ...(await processes.expositions())]);
}

/** @throws InvalidConfigError */
function openArtifacts(
  { devChain: { artifacts: directory } }: Config,
  { chain }: ChainCore,
  tracing: ExecutionPort,
  log: Logger,
): ArtifactLog | undefined {
  if (directory === null) return undefined;
  if (!existsSync(directory)) {
    const key = "dev.artifacts";
    throw new InvalidConfigError(`${key}: no folder ${directory}`, { key });
  }
  const contracts = readArtifacts(resolve(directory));
  log.info("artifacts read", { directory, contracts: contracts.size });
  return createArtifactLog(contracts, { chain, tracing });
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** One line a block. */
function logBlocks({ chain }: ChainCore, log: Logger): void {
  chain.subscribe(({ executed: { block } }) => {
    const { number, gasUsed } = block.header;
    const { hash, transactions } = block;
    log.info("block committed", { number, hash, transactions: transactions.length, gasUsed });
  });
}
