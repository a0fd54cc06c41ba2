import type { ChainParts } from "../../adapters/parts.ts";
import { callLimitsOf } from "../../adapters/rpc-settings.ts";
import type { Config } from "../../config/config.ts";
import { isInMemory } from "../../config/home.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ExecutionThreadData } from "../workers/execution-protocol.ts";
import { ExecutionThreads, type ModuleSource } from "../workers/execution-threads.ts";

/** A trace may hold 100 MB of text twice; wasm memory of the EVM comes on top and is bounded by the call's limit. */
const HEAP_MEGABYTES_MAX = 512;
const IDLE_MS = 5 * 60_000;
/** Executions notice their deadline within some 20 ms of their processor's time, of which a crowded machine gives them little. */
const GRACE_MS = 5_000;

/** What the threads follow. */
export type ThreadedChain = {
  readonly chain: Pick<ChainParts["chain"], "config" | "genesisHash">;
  readonly store: Pick<ChainParts["store"], "followable" | "epoch">;
};

/** The threads that execute calls beside the chain's, as many as the configuration says; undefined where there are none. */
export function createExecutionThreads(
  config: Config,
  log: Logger,
  { chain, store }: ThreadedChain,
  metrics: Metrics,
  compiler: ModuleSource | undefined,
): ExecutionThreads | undefined {
  const { workers } = config.jsonRpc;
  if (workers === 0 || isInMemory(config)) return undefined;
  const { followable } = store;
  if (followable === undefined) {
    log.warn("calls run on the chain's thread: the index is in memory, where no other can read it");
    return undefined;
  }
  const lost = metrics.counter({
    name: "execution_threads_lost_total",
    help: "Execution threads that ended with a request, by reason; each is replaced.",
    labels: ["reason"],
  });
  const { minimumGasPriceWei } = config.mempool;
  const threads = new ExecutionThreads({
    entry: "execute",
    data: {
      store: followable,
      config: chain.config,
      genesisHash: chain.genesisHash,
      limits: callLimitsOf(config),
      startPrice: minimumGasPriceWei > 0n ? minimumGasPriceWei : undefined,
      compiles: compiler !== undefined,
    } satisfies ExecutionThreadData,
    compiler,
    count: workers,
    waitingMax: config.limits.server.callQueueMax,
    heapMegabytesMax: HEAP_MEGABYTES_MAX,
    idleMs: IDLE_MS,
    graceMs: GRACE_MS,
    epoch: () => store.epoch,
    onLost(reason, method, error) {
      lost.add(1, { reason });
      log.error("execution thread ended", { reason, method, error });
    },
  });
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gaugeOf({ name, help }, read);
  gauge("execution_threads_busy", "Threads that execute a call.", () => threads.busy);
  gauge("execution_threads_waiting", "Calls that wait for a thread.", () => threads.waiting);
  return threads;
}
