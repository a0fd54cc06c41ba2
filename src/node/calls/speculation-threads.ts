import { availableParallelism } from "node:os";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { Pool, ThreadLostError } from "../../base/threads/pool.ts";
import type { RecordedBatch } from "../../evm/execution/parallel/recorded-batch.ts";
import {
  type ListedLane,
  Speculation,
  type SpeculationLane,
  type SpeculationOutcome,
} from "../../evm/execution/parallel/speculation.ts";
import type { ChainParts } from "../adapters/parts.ts";
import { type ModuleSource, moduleStarter } from "../compiled-contracts/requested-modules.ts";
import type { Config } from "../config/config.ts";
import { isInMemory } from "../config/home.ts";
import { type SpeculationThreadData, sentTransactions } from "./following-speculation.ts";
import type { SpeculationHandlers } from "./speculate.thread.ts";

const HEAP_MEGABYTES_MAX = 512;
const IDLE_MS = 5 * 60_000;
/** A message has up to `SPECULATION_LIMITS.batch` transactions, and each can use all of a block's gas. */
const ANSWER_MS_MAX = 60_000;

/** The chain that the threads follow. */
type SpeculatedChain = {
  readonly chain: Pick<ChainParts["chain"], "genesisConfig">;
  readonly store: Pick<ChainParts["store"], "followable">;
};

/** Threads that execute transactions of the next block ahead of time, each for a part of the contracts. */
export class SpeculationThreads {
  readonly speculation: Speculation;
  readonly lanes: readonly SpeculationLane[];
  readonly listedLanes: readonly ListedLane[];
  readonly #pools: readonly Pool<SpeculationHandlers>[];
  readonly #ignoreDropped: (() => void) | undefined;

  constructor(options: {
    readonly count: number;
    readonly data: SpeculationThreadData;
    readonly compiler: ModuleSource | undefined;
    readonly onLost: (error: ThreadLostError) => void;
    readonly onOutcome: ConstructorParameters<typeof Speculation>[1];
    readonly timers: Timers;
  }) {
    const { count, data, compiler, onLost, timers } = options;
    // One pool per thread: transactions of the same contracts must go to the same thread.
    this.#pools = Array.from(
      { length: count },
      () =>
        new Pool<SpeculationHandlers>(
          {
            entry: "node/calls/speculate.thread",
            data,
            count: 1,
            waitingMax: Number.POSITIVE_INFINITY,
            heapMegabytesMax: HEAP_MEGABYTES_MAX,
            idleMs: IDLE_MS,
            here: moduleStarter(compiler),
          },
          timers,
        ),
    );
    this.#ignoreDropped = compiler?.onDropped((key) => {
      for (const pool of this.#pools) pool.emit("dropped", key);
    });
    const orLost = async (answer: Promise<RecordedBatch | undefined>): Promise<RecordedBatch | undefined> => {
      try {
        return await answer;
      } catch (error) {
        // Nothing is lost: the block builder executes the transactions itself.
        if (error instanceof ThreadLostError && error.reason !== "closed") onLost(error);
        return undefined;
      }
    };
    const timeoutMs = ANSWER_MS_MAX;
    this.lanes = this.#pools.map((pool) => (request) => {
      const sent = sentTransactions(request);
      const moved = [sent.raw.buffer, sent.sizes.buffer] as ArrayBuffer[];
      return orLost(pool.call("speculate", sent, { timeoutMs, moved }));
    });
    this.listedLanes = this.#pools.map((pool) => (sent) => {
      const moved = [sent.accessList.buffer, sent.transactions.buffer, sent.positions.buffer] as ArrayBuffer[];
      return orLost(pool.call("executeListed", sent, { timeoutMs, moved }));
    });
    this.speculation = new Speculation(this.lanes, options.onOutcome);
  }

  async close(): Promise<void> {
    this.#ignoreDropped?.();
    await Promise.all(this.#pools.map((pool) => pool.close()));
  }
}

/** More threads compare and apply results faster than one thread executes. */
const IMPORT_THREADS_MAX = 4;

/** Threads that execute blocks of a chain file ahead; undefined if disabled. None starts before the first block arrives. */
export function createImportThreads(
  config: Config,
  log: Logger,
  { chain, store }: SpeculatedChain,
  timers: Timers,
  count = Math.min(IMPORT_THREADS_MAX, availableParallelism() - 1),
): SpeculationThreads | undefined {
  const { followable } = store;
  if (count === 0 || isInMemory(config) || followable === undefined) return undefined;
  return new SpeculationThreads({
    count,
    data: { store: followable, cacheBytes: config.cache.bytes, config: chain.genesisConfig, compiles: false },
    compiler: undefined,
    timers,
    onOutcome() {},
    onLost: (error) => log.warn("thread of an import ended", { reason: error.reason, error }),
  });
}

/** Threads that speculate for `chain`; undefined if disabled. None starts before the first transaction arrives. */
export function createSpeculationThreads(
  config: Config,
  log: Logger,
  { chain, store }: SpeculatedChain,
  modules: { readonly metrics: Metrics; readonly timers: Timers; readonly compiler: ModuleSource | undefined },
): SpeculationThreads | undefined {
  const { metrics, timers, compiler } = modules;
  const { speculationThreads: count } = config.evm;
  const { followable } = store;
  if (count === 0 || config.dev || config.consensus.engine !== "solo") return undefined;
  if (isInMemory(config) || followable === undefined) return undefined;
  const lost = metrics.counter({
    name: "speculation_threads_lost_total",
    help: "Threads that died while they executed transactions ahead; the node replaces them.",
    labels: ["reason"],
  });
  const outcomes = metrics.counter({
    name: "speculated_transactions_total",
    help: "Transactions of own blocks that a thread executed ahead, by outcome: applied, executed again after a conflict, or late.",
    labels: ["outcome"],
    values: ["applied", "conflict", "late"] satisfies readonly SpeculationOutcome[],
  });
  return new SpeculationThreads({
    count,
    data: {
      store: followable,
      cacheBytes: config.cache.bytes,
      config: chain.genesisConfig,
      compiles: compiler !== undefined,
    },
    compiler,
    timers,
    onOutcome: (outcome, transactions) => outcomes.add(transactions, { outcome }),
    onLost(error) {
      lost.add(1, { reason: error.reason });
      log.error("speculation thread ended", { reason: error.reason, error });
    },
  });
}
