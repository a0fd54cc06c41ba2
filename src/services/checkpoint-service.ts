import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Chain } from "../chain/chain.ts";
import type { Config } from "../config/config.ts";
import { dataPath } from "../config/home.ts";
import type { Checkpoint } from "../les/checkpoints/checkpoint.ts";
import { CheckpointIndexer } from "../les/checkpoints/checkpoint-indexer.ts";
import { CheckpointLayoutError, NoCheckpointError } from "../les/errors.ts";
import type { CheckpointReads } from "../les/port.ts";
import { type Kv, KvCorruptionError, KvDamagedError } from "../storage/kv.ts";
import { openLmdbKv } from "../storage/lmdb-kv.ts";
import type { Failures } from "../telemetry/failures.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** Work in one turn of the event loop; a step that begins before the end of it takes some 3 ms more. */
const SLICE_MS = 3;
/** Pause after it: at most half of the thread's time goes into checkpoints. */
const PAUSE_MS = 6;

export type CheckpointService = CheckpointReads & { close(): void };

type OpenIndexer = { readonly kv: Kv; readonly indexer: CheckpointIndexer };

/**
 * Computes the checkpoints of light clients while the node has nothing else to do. Its store is opened once the chain is long enough
 * for a first section. It can be computed again, so one that is damaged, or of another section size, is deleted.
 *
 * @param isOn false: nothing is computed
 */
export function createCheckpointService(
  { les, home, limits }: Config,
  modules: {
    readonly chain: Chain;
    readonly log: Logger;
    readonly failures: Failures;
    readonly metrics: Metrics;
    /** Called with every new checkpoint. */
    readonly onCheckpoint: (checkpoint: Checkpoint) => void;
  },
  isOn: boolean,
): CheckpointService {
  const { checkpoints } = limits;
  const { chain, log, failures, metrics } = modules;
  const directory = join(dataPath(home), "checkpoints");
  const source = {
    head: () => chain.head().block.header.number,
    headerAt: chain.headerAt,
    hashAt: chain.hashAt,
  };
  let opened: OpenIndexer | undefined;
  let timer: NodeJS.Timeout | undefined;
  let hasFailed = false;
  const isDue = () => CheckpointIndexer.dueSections(checkpoints, source.head()) > 0;

  function open(): OpenIndexer {
    try {
      return openAt(directory);
    } catch (error) {
      if (!isUseless(error)) throw error;
      log.warn("checkpoints are computed anew", { error });
      rmSync(directory, { recursive: true, force: true });
      return openAt(directory);
    }
  }

  function openAt(path: string): OpenIndexer {
    const kv = openLmdbKv(path);
    try {
      return { kv, indexer: new CheckpointIndexer(checkpoints, { kv, source }) };
    } catch (error) {
      kv.close();
      throw error;
    }
  }

  function indexer(): CheckpointIndexer | undefined {
    if (opened === undefined && isOn && (isDue() || existsSync(directory))) opened = open();
    return opened?.indexer;
  }

  function work(): void {
    timer = undefined;
    const end = performance.now() + SLICE_MS;
    try {
      const current = indexer();
      if (current === undefined) return;
      const before = current.sections;
      let isMore = true;
      while (isMore && performance.now() < end) isMore = current.step();
      if (current.sections > before) {
        const latest = current.latest();
        const { sectionIndex, chtRoot, bloomRoot } = latest;
        log.info("checkpoint computed", { section: sectionIndex, chtRoot, bloomRoot });
        modules.onCheckpoint(latest);
      }
      if (isMore) schedule(PAUSE_MS);
    } catch (error) {
      // It would fail in the same way at every block.
      hasFailed = true;
      if (isUseless(error)) discard();
      throw error;
    }
  }

  /** The next start computes them anew. */
  function discard(): void {
    opened?.kv.close();
    opened = undefined;
    rmSync(directory, { recursive: true, force: true });
  }

  const guardedWork = failures.guard("checkpoints", work);
  function schedule(ms: number): void {
    if (timer !== undefined || hasFailed || !isOn) return;
    timer = setTimeout(guardedWork, ms);
  }

  const unsubscribe = [
    chain.subscribe(() => {
      if (timer === undefined && (opened?.indexer.needsWork() ?? isDue())) schedule(PAUSE_MS);
    }),
    chain.onRollback(() => {
      // One that is not open compares its sections with the chain when it is opened.
      opened?.indexer.rollback(source.head());
    }),
  ];
  if (isDue()) schedule(PAUSE_MS);
  metrics.gaugeOf(
    { name: "les_checkpoints", help: "Checkpoints of light clients that are computed." },
    () => opened?.indexer.sections ?? 0,
  );

  const ready = (): CheckpointIndexer => {
    const current = hasFailed ? opened?.indexer : indexer();
    if (current === undefined) throw new NoCheckpointError();
    return current;
  };
  return {
    latestCheckpoint: () => ready().latest(),
    checkpoint: (index) => ready().checkpoint(index),
    proveHash: (index, number) => ready().proveHash(index, number),
    checkpointOracle: () => les.checkpointOracle ?? undefined,
    close() {
      clearTimeout(timer);
      for (const end of unsubscribe) end();
      opened?.kv.close();
      opened = undefined;
      hasFailed = true;
    },
  };
}

/** Nothing in the store is of use, and all of it can be computed again. */
function isUseless(error: unknown): boolean {
  return (
    error instanceof CheckpointLayoutError ||
    error instanceof KvDamagedError ||
    error instanceof KvCorruptionError
  );
}
