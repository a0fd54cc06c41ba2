import type { Timers } from "../../base/telemetry/timers.ts";
import type { KvBuffer } from "../../store/storage/kv.ts";
import type { AddressIndex } from "../addresses/address-index.ts";
import type { BlockIndex } from "./index/block-index.ts";
import type { RetentionWork } from "./retention/retention.ts";
import type { LogBlockStoreOptions } from "./store-options.ts";
import type { WriteGuard } from "./write-guard.ts";

/**
 * Blocks that wait for the index of addresses before it is written: a transaction of the index for each block costs as much as a quarter
 * of the block's own rows. Half of what a search reads from the blocks themselves.
 */
const ADDRESS_BLOCKS_MIN = 32;

export type BackgroundModules = {
  readonly guard: WriteGuard;
  readonly index: BlockIndex;
  /** Of the index. */
  readonly buffer: KvBuffer | undefined;
  readonly addressIndex: AddressIndex;
  readonly retention: RetentionWork | undefined;
  /** Number of the newest block. */
  head(): number | undefined;
};

/** What a store does between blocks: it writes rows that wait, merges, prunes and builds the index of addresses. */
export class BackgroundWork {
  readonly #modules: BackgroundModules;
  readonly #rows: DeferredTask;
  readonly #merge: DeferredTask;
  readonly #pruning: DeferredTask;
  readonly #addresses: DeferredTask;
  #hasPruningFailed = false;

  constructor(options: LogBlockStoreOptions, modules: BackgroundModules) {
    const { onPruningFailure = () => {}, onAddressIndexFailure = () => {} } = options;
    const { index, buffer, addressIndex, retention, guard } = modules;
    this.#modules = modules;
    this.#rows = this.#task("rows", options, {
      isNeeded: () => buffer?.isFull() === true,
      work: () => void buffer?.writeSome(),
      // They go on waiting. While there is no space for more, each append tries the same, and throws.
      onFailure: () => {},
    });
    this.#pruning = this.#task("prune", options, {
      isNeeded: () => !this.#hasPruningFailed && this.#needsPruning(),
      work: () => void retention?.workSome(modules.head()!),
      onFailure: (error) => {
        this.#hasPruningFailed = true;
        onPruningFailure(error);
      },
    });
    this.#merge = this.#task("merge", options, {
      isNeeded: () => this.#needsMerge(),
      work: () => {
        if (!index.merge.some(modules.head()!)) this.#pruning.schedule();
      },
      // The next append throws.
      onFailure: (error) => guard.poison(error),
    });
    // Nothing depends on the index of addresses, so its failure stops nothing else.
    this.#addresses = this.#task("addresses", options, {
      isNeeded: () => addressIndex.needsWork(),
      work: () => void addressIndex.indexSome(),
      onFailure: (error) => {
        addressIndex.fail(error);
        onAddressIndexFailure(error);
      },
    });
  }

  /** To be called when the store is opened, and after blocks are removed. */
  schedule(): void {
    this.#addresses.schedule();
    this.#pruning.schedule();
  }

  /** To be called after a block: a merge goes on between blocks, or before the next one when it is late. */
  scheduleAfterBlock(): void {
    const { guard, index, addressIndex, head } = this.#modules;
    this.#rows.schedule();
    // A merge that is late is needed.
    if (this.#needsMerge()) {
      while (index.merge.isLate()) guard.orPoison(() => index.merge.some(head()!));
      this.#merge.schedule();
    }
    if (addressIndex.waitingBlocks >= ADDRESS_BLOCKS_MIN) this.#addresses.schedule();
    this.#pruning.schedule();
  }

  #needsMerge(): boolean {
    const head = this.#modules.head();
    return head !== undefined && this.#modules.index.merge.isNeeded(head);
  }

  #needsPruning(): boolean {
    const head = this.#modules.head();
    return head !== undefined && this.#modules.retention?.needsWork(head) === true;
  }

  #task(
    name: string,
    { defer, failPoint = () => {} }: LogBlockStoreOptions,
    parts: Pick<DeferredTaskOptions, "isNeeded" | "work" | "onFailure">,
  ): DeferredTask {
    return new DeferredTask({
      ...parts,
      defer,
      // Without space it waits: the next append that finds some schedules it again.
      canRun: () => this.#modules.guard.canWrite(),
      work: () => {
        failPoint(`${name}:begin`);
        parts.work();
        failPoint(`${name}:end`);
      },
    });
  }
}

/** `defer` of a store: nothing that it leaves for later is a reason for the process to live. */
export function deferOn(timers: Pick<Timers, "soon">): (work: () => void) => void {
  return (work) => void timers.soon("store", work, { keepsAlive: false });
}

/** `defer` of a store that is read and closed, or gets its blocks one after the other: what waits is done with later appends alone. */
export function deferNothing(): void {}

export type DeferredTaskOptions = {
  /** Runs work once nothing else is to be done. */
  readonly defer: (work: () => void) => void;
  readonly isNeeded: () => boolean;
  /** Asked when it is about to run; false ends the task until it is scheduled again. */
  readonly canRun: () => boolean;
  /** One piece of the work. */
  readonly work: () => void;
  /** There is no caller to throw to. The task ends until it is scheduled again. */
  readonly onFailure: (error: unknown) => void;
};

/** Work that runs in small pieces while the node is idle, until it is done. */
export class DeferredTask {
  readonly #options: DeferredTaskOptions;
  #isDeferred = false;

  constructor(options: DeferredTaskOptions) {
    this.#options = options;
  }

  schedule(): void {
    const { defer, isNeeded, canRun, work, onFailure } = this.#options;
    if (this.#isDeferred || !isNeeded()) return;
    this.#isDeferred = true;
    defer(() => {
      this.#isDeferred = false;
      if (!canRun()) return;
      try {
        work();
      } catch (error) {
        onFailure(error);
        return;
      }
      this.schedule();
    });
  }
}
