import { join } from "node:path";
import { invariant } from "../../errors.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { StateReader } from "../../state/reader.ts";
import { type KvFollower, openLmdbFollower } from "../../storage/lmdb-kv.ts";
import { openLogDirectoryReadOnly } from "../../storage/log-file.ts";
import { LogFollower } from "../../storage/log-follower.ts";
import type { TrieNodeReader } from "../../trie/node-store.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import type { LogIndex } from "../logs/log-index.ts";
import type { LogSource } from "../logs/log-source.ts";
import { decodeChangeRows, decodePrefix } from "../records/block-record.ts";
import { BlockReader } from "./block-reader.ts";
import type { IncludedTransaction, ReadableBlockStore } from "./block-store.ts";
import { CACHE_BYTES, followerCacheSizes, type StoreCacheSizes } from "./cache-sizes.ts";
import { HeadState } from "./head-state.ts";
import { HistoricStates } from "./historic-states.ts";
import { BlockIndex } from "./index/block-index.ts";
import { INDEX_FOLDER } from "./index/index-files.ts";
import { LOG_FOLDER } from "./log/replace-log.ts";
import { ComputedTrieNodes, type CreateTrie } from "./nodes/computed-trie-nodes.ts";
import {
  type FollowedStore,
  type HeadPosition,
  type HeadSource,
  openHeadSource,
} from "./published-head.ts";
import { BlockPrunedError, StatePrunedError } from "./store-errors.ts";
import { type StateSource, StoredState } from "./stored-state.ts";

/** How long a follower waits for blocks to be removed: thousands take less than a second. */
const REMOVAL_MS_MAX = 60_000;

export type StoreFollowerOptions = FollowedStore & {
  readonly createTrie: CreateTrie;
  /** Those of the default of `cache.size`, unless given. */
  readonly caches?: StoreCacheSizes;
  /** Blocks the thread for a millisecond. */
  readonly pause?: () => void;
};

/** What is open until the next rollback. */
type View = {
  readonly epoch: number;
  readonly log: LogFollower;
  readonly index: BlockIndex;
  readonly blocks: BlockReader;
  readonly headState: HeadState;
  readonly states: StateSource;
  readonly computed: ComputedTrieNodes;
  /** As of the last `catchUp`. */
  base: number;
  /** Blocks forgotten because they are merged. */
  merged: number;
  head: number;
  /** Log position after the head. */
  end: number;
  /** Blocks before it are all in the log index. */
  indexedLogs: number;
};

/**
 * The blocks of a store that another thread or process writes, up to the head of the last `catchUp`.
 *
 * Everything before the head is immutable until a rollback, so reads need no agreement with the writer: rows tell which block wrote
 * them, and versions that the writer holds in memory are found by reading the block log again. A rollback opens everything anew; what
 * was read across one must be read again.
 */
export class StoreFollower implements ReadableBlockStore {
  readonly #options: StoreFollowerOptions;
  readonly #caches: StoreCacheSizes;
  readonly #published: HeadSource;
  readonly #kv: KvFollower;
  #view: View;
  /** The rows that are read have everything up to it. */
  #followed: HeadPosition | undefined;
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
    else if (published !== this.#followed) {
      // Without this, all reads in one turn of the event loop see the rows as they were at the first.
      this.#kv.refresh();
      if (!this.#follow(this.#view, published)) this.#openAnew();
    }
    this.#readsWhenFresh = this.#reads();
  }

  /** Closes files that the writer has removed, for a follower that nobody reads from for a while. */
  releaseRemoved(): void {
    const { log } = this.#view;
    if (log.end > 0 && log.start < this.#published.read().logStart) this.catchUp();
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
    const followed = this.#followed;
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
    invariant(false, "a removal of blocks must end");
  }

  #reads(): number {
    return this.#kv.reads + this.#view.log.reads;
  }

  base(): number {
    return this.#view.base;
  }

  stateBase(): number {
    return this.#followed?.stateBase ?? 0;
  }

  proofBase(): number {
    return Math.max(this.stateBase(), this.#view.index.pruned.proofs.base);
  }

  /** As it is now, for what was read before: it may have been removed since the last `catchUp`. */
  #newestStateBase(): number {
    return this.#published.read().stateBase;
  }

  /** @throws BlockPrunedError, StatePrunedError */
  #assertNotPruned(number: number, base: number): void {
    if (number >= base || !this.#isStored(number)) return;
    throw new StatePrunedError({ number, base, root: this.#view.blocks.header(number).stateRoot });
  }

  head(): number {
    return this.#view.head;
  }

  block(number: number): ExecutedBlock | undefined {
    return this.#isStored(number) ? this.#view.blocks.block(number) : undefined;
  }

  headerAt(number: number): Header | undefined {
    return this.#isStored(number) ? this.#view.blocks.header(number) : undefined;
  }

  hashAt(number: number): Hash | undefined {
    return this.#isStored(number) ? this.#view.blocks.hash(number) : undefined;
  }

  transactionAt(number: number, index: number): IncludedTransaction | undefined {
    return this.#isStored(number) ? this.#view.blocks.transaction(number, index) : undefined;
  }

  numberOf(blockHash: Hash): number | undefined {
    return this.#ifStored(this.#view.index.blocks.numberOf(blockHash));
  }

  numberOfState(stateRoot: Hash): number | undefined {
    return this.#ifStored(this.#view.index.blocks.numberOfState(stateRoot));
  }

  transaction(hash: Hash): { readonly number: number; readonly index: number } | undefined {
    const found = this.#view.index.blocks.transaction(hash);
    return found && found.number <= this.#view.head ? found : undefined;
  }

  stateAt(number: number): StateReader {
    invariant(this.#isStored(number), `block ${number} must be stored to read its state`);
    const view = this.#view;
    // Of the newest state most is in memory, and looking at the published head costs more than reading it there.
    if (number !== view.head) view.states.assertNotPruned(number);
    return new StoredState(number, view.states);
  }

  /** The logs of all blocks up to the head. The first search reads the blocks whose logs are not in rows yet, some hundreds. */
  get logs(): LogSource {
    return {
      candidates: (filter, from, to) => {
        const found = this.#logIndex().candidates(filter, from, to);
        this.#assertServed(from);
        return found;
      },
      logsOf: (number) => {
        const logs = this.#view.index.logs.logsOf(number);
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
    const { base } = this.isStale() ? this.#published.read() : this.#view;
    if (number < base) throw new BlockPrunedError({ number, base });
  }

  #logIndex(): LogIndex {
    const view = this.#view;
    const { logs } = view.index;
    if (view.indexedLogs > view.head) return logs;
    logs.forgetMerged();
    for (let number = Math.max(view.base, logs.knownBlocks); number <= view.head; number++) {
      logs.remember(view.blocks.block(number));
    }
    view.indexedLogs = view.head + 1;
    return logs;
  }

  get trieNodes(): TrieNodeReader {
    return this.#view.index.trieNodes;
  }

  trieNodesAt(number: number): TrieNodeReader {
    invariant(this.#isStored(number), `block ${number} must be stored to read its trie`);
    this.#assertNotPruned(number, this.proofBase());
    const { index, base, computed } = this.#view;
    const first = Math.max(base, index.merge.checkpoint());
    if (number + 1 === first) return this.trieNodes;
    if (number < first) return index.historicNodes(number);
    return computed.over(this.trieNodes, first, number);
  }

  close(): void {
    this.#view.log.close();
    this.#kv.close();
    this.#published.close();
  }

  #openAnew(): void {
    this.#view.log.close();
    this.#view = this.#open();
  }

  #open(): View {
    for (;;) {
      const before = this.#readHead();
      this.#kv.refresh();
      const log = new LogFollower(
        openLogDirectoryReadOnly(join(this.#options.directory, LOG_FOLDER)),
      );
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
  #viewAt(epoch: number, log: LogFollower): View | undefined {
    const index = new BlockIndex(this.#kv, log, { codeBytesMax: this.#caches.codes });
    // Read after the rows, so that the log holds every block that they name.
    const published = this.#published.read();
    if (published.epoch !== epoch) return undefined;
    log.extendTo(published.end);
    const view = this.#viewOf(epoch, log, index);
    // The rows that the view was made from may be older than what was published since.
    this.#kv.refresh();
    return this.#follow(view, published) ? view : undefined;
  }

  /** The blocks that are merged. */
  #viewOf(epoch: number, log: LogFollower, index: BlockIndex): View {
    const positionOf = (number: number) => {
      const position = index.blocks.position(number);
      if (position !== undefined) return position;
      // It may have been pruned since the last `catchUp`.
      const { base } = this.#published.read();
      if (number < base) throw new BlockPrunedError({ number, base });
      invariant(false, `block ${number} must be in the index`);
    };
    const blocks = new BlockReader(log, positionOf, this.#caches.blocks);
    const { base } = this.#published.read();
    const merged = Math.max(base, index.merge.mergedBlocks);
    /** @param read of a row, or of the log: the writer may have gone on by more blocks than it stores states of */
    const newest = <T>(read: () => T): T => {
      try {
        return read();
      } finally {
        assertNotPruned(view.head);
      }
    };
    const assertNotPruned = (number: number) =>
      this.#assertNotPruned(number, this.#newestStateBase());
    const headState = new HeadState(
      {
        accounts: { latest: (key) => newest(() => index.accounts.at(key, view.head)) },
        slots: { latest: (key) => newest(() => index.slots.at(key, view.head)) },
      },
      this.#caches.headState,
    );
    const view: View = {
      ...{ epoch, log, index, blocks, base, merged, headState },
      states: {
        ...{ index, head: headState, assertNotPruned },
        historic: new HistoricStates(index, assertNotPruned, this.#caches.historicStates),
        // They may be of a block after the head of the last `catchUp`.
        hasNewestRows: false,
        headNumber: () => view.head,
      },
      computed: new ComputedTrieNodes(
        this.#options.createTrie,
        (number) => (this.#isStored(number) ? blocks.block(number) : undefined),
        (number) => this.stateAt(number),
      ),
      head: merged - 1,
      end: merged === base ? 0 : log.record(positionOf(merged - 1)).end,
      indexedLogs: 0,
    };
    return view;
  }

  /** False where blocks between the view's and the published head were removed: the view must be opened anew. */
  #follow(view: View, published: HeadPosition): boolean {
    const { number, end, mergedBlocks, base, logStart } = published;
    if (number > view.head) {
      view.log.extendTo(end);
      // Removed by now, if not when the head was published.
      if (view.end > 0 && view.log.start > view.end) return false;
    }
    if (base !== view.base || view.index.accounts.base !== published.stateBase) {
      view.base = base;
      view.index.refreshPrunedRanges();
    }
    if (number > view.head) {
      for (const { position, payload, end } of view.log.records(view.end)) {
        view.head = decodePrefix(payload).number;
        view.end = end;
        view.index.rememberVersions(view.head, position, decodeChangeRows(payload));
        if (view.head === number) break;
      }
      view.headState.forget();
    }
    if (mergedBlocks > view.merged) {
      view.index.forgetMerged(mergedBlocks);
      view.merged = mergedBlocks;
    }
    view.log.dropBefore(logStart);
    this.#followed = published;
    return true;
  }

  #ifStored(number: number | undefined): number | undefined {
    return number !== undefined && number <= this.#view.head ? number : undefined;
  }

  /** @throws BlockPrunedError */
  #isStored(number: number): boolean {
    const { base, head } = this.#view;
    if (number < 0 || number > head) return false;
    if (number < base) throw new BlockPrunedError({ number, base });
    return true;
  }
}

const NEVER_WOKEN = new Int32Array(new SharedArrayBuffer(4));

function pauseThread(): void {
  Atomics.wait(NEVER_WOKEN, 0, 0, 1);
}
