import { InvariantError } from "../../../base/errors.ts";
import type { LogFollower } from "../../../store/storage/log/log-follower.ts";
import type { BlockLogs } from "../../logs/block-logs.ts";
import type { LogIndex } from "../../logs/log-index.ts";
import { decodeChangeRows, decodePrefix } from "../../records/block-record.ts";
import { BlockPrunedError } from "../../store-errors.ts";
import { StoreView, type StoreViewModules } from "../store-view.ts";
import type { HeadPosition, HeadSource } from "./published-head.ts";
import type { UnwrittenBlocks } from "./unwritten-blocks.ts";

/** A store that another thread or process writes, until its next rollback. */
export class FollowedView extends StoreView {
  readonly log: LogFollower;
  readonly epoch: number;
  readonly #published: HeadSource;
  readonly #unwritten: UnwrittenBlocks;
  /** The rows that are read have everything up to it. */
  #followed: HeadPosition | undefined;
  #base: number;
  /** @property end log position after it */
  override newest: { readonly number: number; readonly end: number };
  /** Blocks forgotten because they are merged. */
  #merged: number;
  /** Blocks before it are all in the log index. */
  #indexedLogs = 0;

  /** Holds the blocks that are merged, until `follow`. @param modules.published with an even epoch */
  constructor(
    modules: Omit<StoreViewModules, "isWriter"> & {
      readonly log: LogFollower;
      readonly published: HeadSource;
      /** Of `index`. */
      readonly unwritten: UnwrittenBlocks;
      readonly epoch: number;
    },
  ) {
    super({ ...modules, isWriter: false });
    const { log, published, epoch, index, unwritten } = modules;
    this.log = log;
    this.epoch = epoch;
    this.#published = published;
    this.#unwritten = unwritten;
    this.#base = published.read().base;
    this.#merged = Math.max(this.#base, index.merge.mergedBlocks);
    const number = this.#merged - 1;
    this.newest = { number, end: this.#merged === this.#base ? 0 : log.record(this.positionOf(number)).end };
  }

  /** What was published when `follow` was last called. */
  get followed(): HeadPosition | undefined {
    return this.#followed;
  }

  override base(): number {
    return this.#base;
  }

  override stateBase(): number {
    return this.#followed?.stateBase ?? 0;
  }

  protected override newestStateBase(): number {
    return this.#published.read().stateBase;
  }

  /** @throws BlockPrunedError where the block was removed since `follow` */
  protected override positionOf(number: number): number {
    const position = this.index.blocks.position(number);
    if (position !== undefined) return position;
    const { base } = this.#published.read();
    if (number < base) throw new BlockPrunedError({ number, base });
    throw new InvariantError(`block ${number} must be in the index`);
  }

  /** Goes on to the published head; false where blocks between the two were removed: the store must be opened anew. */
  follow(published: HeadPosition): boolean {
    const { number, end, mergedBlocks, base, logStart } = published;
    if (number > this.newest.number) {
      this.log.extendTo(end);
      // Removed by now, if not when the head was published.
      if (this.newest.end > 0 && this.log.start > this.newest.end) return false;
    }
    if (base !== this.#base || this.index.accounts.base !== published.stateBase) {
      this.#base = base;
      this.index.refreshPrunedRanges();
    }
    // Of the same moment as the rows that are read from now on.
    const written = this.index.applied()?.number ?? -1;
    this.#unwritten.forgetUpTo(written);
    if (number > this.newest.number) {
      for (const { position, payload, end } of this.log.records(this.newest.end)) {
        const { number: next, hash } = decodePrefix(payload);
        const rows = decodeChangeRows(payload);
        this.newest = { number: next, end };
        this.index.rememberVersions(next, position, rows);
        if (next > written) this.#unwritten.add({ number: next, hash, position, codes: rows.codes });
        if (this.newest.number === number) break;
      }
      this.headState.forget();
    }
    if (mergedBlocks > this.#merged) {
      this.index.forgetMerged(mergedBlocks);
      this.#merged = mergedBlocks;
    }
    this.log.dropBefore(logStart);
    this.#followed = published;
    return true;
  }

  /** undefined when the block was rolled back meanwhile */
  logsOf(number: number): BlockLogs | undefined {
    return this.index.logs.logsOf(number);
  }

  /** The logs of all blocks up to the head: reads the blocks whose logs are not in rows yet, some hundreds at first. */
  logIndex(): LogIndex {
    const { logs } = this.index;
    if (this.#indexedLogs > this.newest.number) return logs;
    logs.forgetMerged();
    for (let number = Math.max(this.#base, logs.knownBlocks); number <= this.newest.number; number++) {
      logs.remember(this.blocks.block(number));
    }
    this.#indexedLogs = this.newest.number + 1;
    return logs;
  }

  override close(): void {
    this.log.close();
  }
}
