import { NodeError } from "../../base/errors.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import { declareGauges, type Metrics } from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { CancelToken } from "../../base/threads/cancel-token.ts";
import { errorFromData } from "../../base/threads/plain-data.ts";
import { CallAbortedError, Pool, ThreadLostError } from "../../base/threads/pool.ts";
import type { ThreadEntry } from "../../base/threads/start-thread.ts";
import { isIndexDamage } from "../../chain/store-errors.ts";
import { ExecutionTimeoutError } from "../../evm/execution/call/call-errors.ts";
import { RequestTimeoutError, TooManyError } from "../../rpc/transport/errors.ts";
import type { ChainParts } from "../adapters/parts.ts";
import { callLimitsOf } from "../adapters/rpc-settings.ts";
import { type ModuleSource, moduleStarter } from "../compiled-contracts/requested-modules.ts";
import type { Config } from "../config/config.ts";
import { isInMemory } from "../config/home.ts";
import type { ExecutionHandlers } from "./execute.thread.ts";
import type { ExecutionOutcome, ExecutionRequest, ExecutionThreadData } from "./following-execution.ts";

/** The thread of the request died without an answer: it ran out of memory or failed. */
class ExecutionAbortedError extends NodeError {
  readonly code = "EXECUTION_ABORTED";
}

/** A trace may hold 100 MB of text twice. The EVM's WebAssembly memory is extra and bounded by the call's limit. */
const HEAP_MEGABYTES_MAX = 512;
const IDLE_MS = 5 * 60_000;

export type ExecutionThreadsOptions = {
  readonly data: ExecutionThreadData;
  /** Threads at most. One starts when a request finds no idle thread. */
  readonly count: number;
  readonly waitingMax: number;
  /**
   * Number of rollbacks of the store, as of now. An answer from before the last rollback is discarded, and the request runs again. If another
   * process writes the store, this must not be a cached number: a thread that has seen a newer one would make the request run forever.
   */
  readonly epoch: () => number;
  /** Compiles contracts for all threads; undefined: threads only interpret. */
  readonly compiler: ModuleSource | undefined;
  readonly onLost: (error: ThreadLostError, method: string | undefined) => void;
  /** Called for each error that indicates a damaged index: a thread can only read it. */
  readonly onDamage?: (error: Error) => void;
  /** From the time limit of a call to the end of its thread. */
  readonly graceMs: number;
  /** For tests; need not execute anything. */
  readonly entry?: ThreadEntry;
};

type ExecutionOptions = {
  /** Deadline that the execution itself observes, in ms from its start; 0: none, and its thread is never killed for it. */
  readonly timeoutMs: number;
  readonly cancel: CancelToken | undefined;
  /** Called with the milliseconds that the thread took. */
  readonly noteTime?: (ms: number) => void;
};

/** Executes requests in threads that follow the store. */
export class ExecutionThreads {
  /** For admission and for metrics. */
  readonly pool: Pool<ExecutionHandlers>;
  readonly #options: ExecutionThreadsOptions;
  readonly #ignoreDropped: (() => void) | undefined;

  constructor(options: ExecutionThreadsOptions, timers: Timers) {
    const { data, count, waitingMax, compiler, onLost, entry } = options;
    this.#options = options;
    this.pool = new Pool(
      {
        entry: entry ?? "node/calls/execute.thread",
        data,
        count,
        waitingMax,
        heapMegabytesMax: HEAP_MEGABYTES_MAX,
        idleMs: IDLE_MS,
        here: moduleStarter(compiler),
        onLost(error, call) {
          if (call === undefined) onLost(error, undefined);
        },
      },
      timers,
    );
    this.#ignoreDropped = compiler?.onDropped((key) => this.pool.emit("dropped", key));
  }

  /**
   * The method's result; its input is copied to the thread.
   * @throws TooManyError, RequestTimeoutError, ExecutionTimeoutError, ExecutionAbortedError, and errors of the method
   */
  async run(request: ExecutionRequest, { timeoutMs, cancel, noteTime }: ExecutionOptions): Promise<unknown> {
    if (this.pool.isFull()) throw new TooManyError("too many calls are waiting, try again later");
    let outcome: ExecutionOutcome;
    try {
      outcome = await this.pool.call("execute", request, {
        timeoutMs: timeoutMs === 0 ? 0 : timeoutMs + this.#options.graceMs,
        cancel,
        isOutdated: (outcome) => (outcome as ExecutionOutcome).epoch !== this.#options.epoch(),
      });
    } catch (error) {
      if (error instanceof ThreadLostError && error.reason !== "closed") {
        this.#options.onLost(error, request.method);
      }
      this.#noteDamage(error);
      throw rejectionOf(error, timeoutMs);
    }
    noteTime?.(outcome.ms);
    if (!("error" in outcome)) return outcome.value;
    const error = errorFromData(outcome.error);
    this.#noteDamage(error);
    throw error;
  }

  #noteDamage(error: unknown): void {
    if (error instanceof Error && isIndexDamage(error)) this.#options.onDamage?.(error);
  }

  /** Ends every thread; requests that run or wait fail. */
  close(): Promise<void> {
    this.#ignoreDropped?.();
    return this.pool.close();
  }
}

function rejectionOf(error: unknown, timeoutMs: number): unknown {
  if (error instanceof CallAbortedError) return new RequestTimeoutError();
  if (!(error instanceof ThreadLostError)) return error;
  const { reason, message, cause } = error;
  if (reason === "timeout" && timeoutMs > 0) return new ExecutionTimeoutError(timeoutMs);
  return new ExecutionAbortedError(`execution aborted: ${message}`, {}, { cause });
}

type ThreadedChain = {
  readonly chain: Pick<ChainParts["chain"], "genesisConfig" | "genesisHash">;
  readonly store: Pick<ChainParts["store"], "followable" | "epoch" | "noteDamage">;
};

/** The threads that execute calls besides the thread of `chain`; undefined if none. */
export function createExecutionThreads(
  config: Config,
  log: Logger,
  { chain, store }: ThreadedChain,
  modules: { readonly metrics: Metrics; readonly timers: Timers; readonly compiler: ModuleSource | undefined },
): ExecutionThreads | undefined {
  const { metrics, timers, compiler } = modules;
  const { workers } = config.jsonRpc;
  if (workers === 0 || isInMemory(config)) return undefined;
  const { followable } = store;
  if (followable === undefined) {
    log.warn("calls run on the chain's thread, because other threads cannot read an index in memory");
    return undefined;
  }
  const lost = metrics.counter({
    name: "execution_threads_lost_total",
    help: "Execution threads that died during a request, by reason; the node replaces them.",
    labels: ["reason"],
  });
  const { minimumGasPriceWei } = config.mempool;
  const threads = new ExecutionThreads(
    {
      data: {
        store: followable,
        cacheBytes: config.cache.bytes,
        config: chain.genesisConfig,
        genesisHash: chain.genesisHash,
        limits: callLimitsOf(config),
        startPrice: minimumGasPriceWei > 0n ? minimumGasPriceWei : undefined,
        compiles: compiler !== undefined,
      },
      compiler,
      count: workers,
      waitingMax: config.limits.server.callQueueMax,
      graceMs: config.limits.calls.threadGraceMs,
      epoch: () => store.epoch,
      onDamage: (error) => store.noteDamage(error),
      onLost(error, method) {
        const { reason } = error;
        lost.add(1, { reason });
        log.error("execution thread ended", { reason, method, error });
      },
    },
    timers,
  );
  declareGauges(metrics, {
    execution_threads_busy: ["Threads that are executing a call.", () => threads.pool.busy],
    execution_threads_waiting: ["Calls that wait for a thread.", () => threads.pool.waiting],
  });
  return threads;
}
