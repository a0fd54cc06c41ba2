import { callLimitsOf } from "../../adapters/call-limits.ts";
import type { Config } from "../../config/config.ts";
import { isInMemory } from "../../config/home.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { Metrics } from "../../telemetry/metrics.ts";
import type { ChainCore } from "../compose/compose-chain.ts";
import { ExecutionThreads } from "../workers/execution-threads.ts";
import type { ModuleSource } from "../workers/requested-modules.ts";

/** What the threads follow. */
export type ThreadedChain = {
  readonly chain: Pick<ChainCore["chain"], "config" | "genesisHash">;
  readonly store: Pick<ChainCore["store"], "followable" | "epoch">;
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
    data: {
      store: followable,
      config: chain.config,
      genesisHash: chain.genesisHash,
      limits: callLimitsOf(config),
      startPrice: minimumGasPriceWei > 0n ? minimumGasPriceWei : undefined,
      compiles: compiler !== undefined,
    },
    compiler,
    count: workers,
    waitingMax: config.rpcLimits.callQueueMax,
    epoch: () => store.epoch,
    onLost(error, method) {
      const { reason } = error;
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
