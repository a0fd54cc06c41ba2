import type { Kv } from "../../../store/storage/kv.ts";
import type { LogReader } from "../../../store/storage/log/log-reader.ts";
import type { PrunedKind } from "../index/pruned-range.ts";
import { SlicePace } from "../slice-pace.ts";
import { NO_ROWS, PRUNE_BATCHES, type PruneModules, type PruneStep, withoutRows } from "./prune-batches.ts";

/** The number of newest blocks for which each kind of data is retained; undefined for all. */
export type Retention = {
  /** Blocks with their receipts and logs. */
  readonly blocks?: number | undefined;
  /** Readable states; at most as many as blocks. */
  readonly states?: number | undefined;
  /** States with proofs; at most as many as readable states. */
  readonly proofs?: number | undefined;
};

/** The oldest block to serve for each kind of data. */
export type PruneTargets = Readonly<Record<PrunedKind, number>>;

/** Rows after which a batch ends: they are sorted in some milliseconds, and take some megabytes. */
const BATCH_ROWS = 10_000;

const KINDS = ["states", "proofs", "blocks"] as const;

/**
 * @param chain.base the oldest stored block
 * @param chain.merged the newest completely merged block
 */
export function pruneTargets(
  { blocks, states, proofs }: Retention,
  { base, head, merged }: { readonly base: number; readonly head: number; readonly merged: number },
): PruneTargets {
  const oldest = (retained: number | undefined, least: number) =>
    retained === undefined ? least : Math.max(least, Math.min(merged, head - retained + 1));
  const firstBlock = oldest(blocks, base);
  const firstState = oldest(states, firstBlock);
  return { blocks: firstBlock, states: firstState, proofs: oldest(proofs, firstState) };
}

export type PrunerOptions = {
  /** Milliseconds in which a slice is to be through. */
  readonly sliceMs?: number;
  /** Rows after which a batch ends, in the middle of a block too. */
  readonly batchRows?: number;
};

export type PrunerModules = PruneModules & { readonly kv: Kv; readonly log: LogReader };

/**
 * Removes the rows of old blocks, states and trie nodes from the index, a slice at a time. Every step can be done again, so a stop in the
 * middle costs the steps of one batch.
 */
export class Pruner {
  readonly #modules: PrunerModules;
  readonly #pace: SlicePace;
  readonly #batchRows: number;
  #steps: Generator<PruneStep> | undefined;

  constructor({ sliceMs, batchRows = BATCH_ROWS }: PrunerOptions, modules: PrunerModules) {
    this.#modules = modules;
    this.#pace = new SlicePace(sliceMs);
    this.#batchRows = batchRows;
  }

  /** True when `pruneSome` has something to do. */
  get isBusy(): boolean {
    return this.#steps !== undefined;
  }

  /** Continues what an earlier process began. */
  resume(): void {
    const { pruned } = this.#modules.index;
    if (KINDS.some((kind) => pruned[kind].next < this.#endOf(kind))) this.#steps = this.#all();
  }

  /** Blocks, over all kinds, whose rows are still to be removed. */
  get blocksLeft(): number {
    const { pruned } = this.#modules.index;
    return KINDS.reduce((sum, kind) => sum + Math.max(0, this.#endOf(kind) - pruned[kind].next), 0);
  }

  /** Nothing older than `targets` is served from here on, and its rows will be removed. Only when not busy. */
  begin(targets: PruneTargets): void {
    const moved = KINDS.filter((kind) => targets[kind] > this.#modules.index.pruned[kind].base);
    this.#modules.kv.transaction((writer) => {
      for (const kind of moved) {
        const range = this.#modules.index.pruned[kind];
        range.write(writer, targets[kind], range.next);
      }
    });
    this.#modules.index.applyPrunedRanges();
    this.#steps = this.#all();
  }

  /** Removes rows for some milliseconds; true while there is more to do. */
  pruneSome(): boolean {
    const steps = this.#steps;
    if (steps === undefined) return false;
    const taken: PruneStep[] = [];
    let writes = 0;
    this.#pace.begin();
    this.#modules.kv.transaction((writer) => {
      // There are some where the store could not commit the first time.
      for (const step of taken) step(writer);
      do {
        const next = steps.next();
        if (next.done) {
          this.#steps = undefined;
          return;
        }
        taken.push(next.value);
        next.value(writer);
        if (next.value !== NO_ROWS) writes++;
      } while (!this.#pace.isLate(writes));
    });
    this.#pace.committed(writes);
    return this.isBusy;
  }

  /** The state after the base is served: changes up to it are in the oldest values. Blocks are served from the base on. */
  #endOf(kind: PrunedKind): number {
    const { base } = this.#modules.index.pruned[kind];
    return kind === "blocks" || base === 0 ? base : base + 1;
  }

  *#all(): Generator<PruneStep> {
    const { index, log } = this.#modules;
    for (const kind of KINDS) {
      const range = index.pruned[kind];
      const end = this.#endOf(kind);
      if (range.next >= end) continue;
      const first = Math.max(range.next, index.blocks.firstNumber() ?? 0);
      const batch = new PRUNE_BATCHES[kind](this.#modules);
      let isRemoved = false;
      for (let number = first; number < end; number++) {
        const { payload } = yield* withoutRows(log.recordInParts(index.blocks.knownPosition(number)));
        for (const step of batch.add(number, payload)) {
          yield step;
          if (batch.size < this.#batchRows) continue;
          yield* batch.remove();
          isRemoved = true;
        }
        const next = number + 1;
        if (batch.size < this.#batchRows && !isRemoved && next < end) continue;
        yield* batch.remove();
        yield (writer) => range.write(writer, range.base, next);
        isRemoved = false;
      }
    }
  }
}
