import { join } from "node:path";
import { InvariantError } from "../../../base/errors.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../../base/types/block.ts";
import type { Header } from "../../../base/types/header.ts";
import type { StateReader } from "../../../evm/state/reader.ts";
import { type KvFollower, openLmdbFollower } from "../../../store/storage/lmdb/lmdb-kv.ts";
import { openLogDirectoryReadOnly } from "../../../store/storage/log/log-file.ts";
import { LogFollower } from "../../../store/storage/log/log-follower.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import type { GasPayment, IncludedTransaction, ReadableBlockStore } from "../../block-store.ts";
import type { LogSource } from "../../logs/log-filter.ts";
import { BlockPrunedError } from "../../store-errors.ts";
import { CACHE_BYTES, followerCacheSizes, type StoreCacheSizes } from "../cache-sizes.ts";
import { BlockIndex } from "../index/block-index.ts";
import { INDEX_FOLDER } from "../index/index-files.ts";
import type { CreateTrie } from "../nodes/computed-trie-nodes.ts";
import { LOG_FOLDER } from "../replace-log.ts";
import { FollowedView } from "./followed-view.ts";
import { type FollowedStore, type HeadPosition, type HeadSource, openHeadSource } from "./published-head.ts";
import { UnwrittenBlocks } from "./unwritten-blocks.ts";

/** How long a follower waits for blocks to be removed: thousands take less than a second. */
const REMOVAL_MS_MAX = 60_000;

export type StoreFollowerOptions = FollowedStore & {
  readonly createTrie: CreateTrie;
  /** Those of the default of `cache.size`, unless given. */
  readonly caches?: StoreCacheSizes;
  /** Blocks the thread for a millisecond, while blocks are being removed. Throws where the writer is gone, which would never end it. */
  readonly pause?: () => void;
};

/** Interval at which an idle follower checks for removed files, a microsecond each time. */
export const RELEASE_MS = 1_000;

/**
 * The blocks of a store that another thread or process writes, up to the head of the last `catchUp`.
 *
 * Everything before the head is immutable until a rollback, so reads need no agreement with the writer: rows tell which block wrote
 * them, and rows and versions that the writer holds in memory are found by reading the block log again. A rollback opens everything anew; what
 * was read across one must be read again.
 */
export class StoreFollower implements ReadableBlockStore {
  readonly #options: StoreFollowerOptions;
  readonly #caches: StoreCacheSizes;
  readonly #published: HeadSource;
  readonly #kv: KvFollower;
  #view: FollowedView;
  /** Reads of the store's files when `isStale` was last known to be false. */
  #readsWhenFresh = 0;

  /** @throws KvDamagedError, LogCorruptionError, UnknownFormatError */
  constructor(options: StoreFollowerOptions) {
    this.#options = options;
    this.#caches = options.caches ?? followerCacheSizes(CACHE_BYTES);
    this.#published = openHeadSource(options);
    this.#kv = openLmdbFollower(join(options.directory, INDEX_FOLDER));
    this.#view = this.#open();
  }

  /** Makes every block readable that was committed before this call. */
  catchUp(): void {
    const published = this.#readHead();
    if (published.epoch !== this.#view.epoch) this.#openAnew();
    else if (published !== this.#view.followed) {
      // Without this, all reads in one turn of the event loop see the rows as they were at the first.
      this.#kv.refresh();
      if (!this.#view.follow(published)) this.#openAnew();
    }
    this.#readsWhenFresh = this.#reads();
  }

  /** Closes files that the writer has removed, for an idle follower. Does not throw. */
  releaseRemoved(): void {
    const { log } = this.#view;
    try {
      if (log.end > 0 && log.start < this.#published.read().logStart) this.catchUp();
    } catch {
      // The next read meets the same, and has somebody to tell.
    }
  }

  /** Of the published head, as of the last `catchUp`. */
  get epoch(): number {
    return this.#view.epoch;
  }

  /**
   * Blocks were removed since the last `catchUp` and before something was read: it may be of blocks that are gone, and must be read
   * again. What was in memory is still of the store as it was then.
   */
  isStale(): boolean {
    const reads = this.#reads();
    if (reads === this.#readsWhenFresh) return false;
    const { epoch, base, stateBase } = this.#published.read();
    const { followed } = this.#view;
    if (epoch !== this.#view.epoch || base !== followed?.base || stateBase !== followed.stateBase) {
      return true;
    }
    this.#readsWhenFresh = reads;
    return false;
  }

  /** The published head, while no blocks are being removed. */
  #readHead(): HeadPosition {
    const { pause = pauseThread } = this.#options;
    for (let waited = 0; waited < REMOVAL_MS_MAX; waited++) {
      const head = this.#published.read();
      if (head.epoch % 2 === 0) return head;
      pause();
    }
    throw new InvariantError("a removal of blocks must end");
  }

  #reads(): number {
    return this.#kv.reads + this.#view.log.reads;
  }

  head(): number {
    return this.#view.newest.number;
  }

  base(): number {
    return this.#view.base();
  }

  stateBase(): number {
    return this.#view.stateBase();
  }

  proofBase(): number {
    return this.#view.proofBase();
  }

  block(number: number): ExecutedBlock | undefined {
    return this.#view.block(number);
  }

  blockInSlices(number: number, slices: SharedSlices): MaybePromise<ExecutedBlock | undefined> {
    return this.#view.blockInSlices(number, slices);
  }

  header(number: number): Header | undefined {
    return this.#view.header(number);
  }

  blockHash(number: number): Hash | undefined {
    return this.#view.blockHash(number);
  }

  transactionAt(number: number, index: number): IncludedTransaction | undefined {
    return this.#view.transactionAt(number, index);
  }

  transactionCount(number: number): number | undefined {
    return this.#view.transactionCount(number);
  }

  accessList(number: number): Uint8Array | undefined {
    return this.#view.accessList(number);
  }

  gasPayments(number: number): readonly GasPayment[] | undefined {
    return this.#view.gasPayments(number);
  }

  numberOf(blockHash: Hash): number | undefined {
    return this.#view.numberOf(blockHash);
  }

  numberOfState(stateRoot: Hash): number | undefined {
    return this.#view.numberOfState(stateRoot);
  }

  transactionPosition(hash: Hash): { readonly number: number; readonly index: number } | undefined {
    return this.#view.transactionPosition(hash);
  }

  stateAt(number: number): StateReader {
    return this.#view.stateAt(number);
  }

  get trieNodes(): TrieNodeReader {
    return this.#view.trieNodes;
  }

  trieNodesAt(number: number): TrieNodeReader {
    return this.#view.trieNodesAt(number);
  }

  /** The logs of all blocks up to the head. */
  get logs(): LogSource {
    return {
      candidates: (filter, from, to) => {
        const found = this.#view.logIndex().candidates(filter, from, to);
        this.#assertServed(from);
        return found;
      },
      logsOf: (number) => {
        const logs = this.#view.logsOf(number);
        if (logs === undefined) this.#assertServed(number);
        return logs;
      },
      epoch: () => {
        if (this.isStale()) this.catchUp();
        return this.epoch;
      },
    };
  }

  /** Asserts after the read: what was removed before it is known to be removed by then. @throws BlockPrunedError */
  #assertServed(number: number): void {
    // What `isStale` finds out here it need not look for again at the end of the search.
    const base = this.isStale() ? this.#published.read().base : this.base();
    if (number < base) throw new BlockPrunedError({ number, base });
  }

  close(): void {
    this.#view.close();
    this.#kv.close();
    this.#published.close();
  }

  #openAnew(): void {
    this.#view.close();
    this.#view = this.#open();
  }

  #open(): FollowedView {
    for (;;) {
      const before = this.#readHead();
      this.#kv.refresh();
      const log = new LogFollower(openLogDirectoryReadOnly(join(this.#options.directory, LOG_FOLDER)));
      try {
        const view = this.#viewAt(before.epoch, log);
        if (view !== undefined) return view;
      } catch (error) {
        // It may be of rows or segments that were removed since: then the next try reads others.
        if (!this.#hasRemovedSince(before)) throw error;
      }
      log.close();
    }
  }

  #hasRemovedSince({ epoch, base, stateBase, logStart }: HeadPosition): boolean {
    const now = this.#published.read();
    const isSame = now.base === base && now.stateBase === stateBase && now.logStart === logStart;
    return now.epoch !== epoch || !isSame;
  }

  /** undefined where blocks were removed meanwhile. */
  #viewAt(epoch: number, log: LogFollower): FollowedView | undefined {
    const unwritten = new UnwrittenBlocks(log);
    const index = new BlockIndex(this.#kv, log, { codeBytesMax: this.#caches.codes, unwritten });
    // Read after the rows, so that the log holds every block that they name.
    const published = this.#published.read();
    if (published.epoch !== epoch) return undefined;
    log.extendTo(published.end);
    const { createTrie } = this.#options;
    const view = new FollowedView({
      log,
      index,
      unwritten,
      createTrie,
      caches: this.#caches,
      published: this.#published,
      epoch,
    });
    // The rows that the view was made from may be older than what was published since.
    this.#kv.refresh();
    return view.follow(published) ? view : undefined;
  }
}

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread for a millisecond. */
export function pauseThread(): void {
  Atomics.wait(NEVER_WOKEN, 0, 0, 1);
}
