import { InvariantError } from "../../base/errors.ts";
import type { Hash } from "../../base/primitives/hash.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../../base/types/block.ts";
import { FeeHistories } from "../../chain/fees/fee-history.ts";
import { GasPriceOracle } from "../../chain/fees/gas-price-oracle.ts";
import { LogFilter } from "../../chain/logs/log-filter.ts";
import type { ChainReader } from "../../chain/reader.ts";
import { knownBlock } from "../../chain/reader.ts";
import { followerCacheSizes } from "../../chain/store/cache-sizes.ts";
import { pauseThread, type StoreFollower } from "../../chain/store/follow/store-follower.ts";
import { isIndexDamage } from "../../chain/store-errors.ts";
import type { ExecutionModules } from "../../evm/execution/block/block-execution.ts";
import type { ContractCompiler } from "../../evm/machine/modules/compiled-tier.ts";
import { LogTextCache } from "../../rpc/methods/json/log-text-cache.ts";
import type { ChainListener, ChainView } from "../../rpc/ports/chain-view.ts";
import { type Followed, followedPort } from "../../rpc/ports/declarations.ts";
import { ChainUnreachableError } from "../../rpc/transport/errors.ts";
import { createStoredReads } from "../adapters/chain-view.ts";
import { findLogs } from "../adapters/log-search.ts";
import { StoreExecution } from "../calls/store-execution.ts";
import type { Limits } from "../config/config.ts";
import type { RpcProcessData } from "./protocol.ts";

/** Code after it runs in a microtask. */
const NOW = Promise.resolve();
/** As many trie nodes as a proof of a thousand slots reads. */
const TRIE_BYTES = 4 << 20;

/**
 * The chain of a store that another process writes. Every read sees all blocks committed before it began, so no two connections, on whichever
 * process, see the chain go back. A read that a rollback overtook runs again.
 */
export class FollowedChain {
  readonly reader: ChainReader;
  readonly suggestTip: () => bigint;
  readonly #chain: StoreExecution;
  readonly #store: StoreFollower;
  readonly #logTexts: LogTextCache;
  readonly #listeners = new Set<ChainListener>();
  /** Blocks removed before their event arrived: their removal is not emitted either. */
  readonly #skipped = new Set<Hash>();
  /** Blocks emitted before the message that made them the head. */
  readonly #early = new Set<Hash>();
  /** Number of the last emitted block, and the emitted rollbacks. */
  #emitted: number;
  #emittedEpoch: number;
  readonly #onListenerError: (error: unknown) => void;
  readonly #timers: Pick<Timers, "now" | "deferred">;
  /** The view is up to date for the current run of code, which a microtask ends. */
  #isCurrent = false;
  readonly #endRun = () => {
    this.#isCurrent = false;
  };

  constructor(
    { store, chainConfig, chainPid, genesisHash, config }: RpcProcessData,
    onListenerError: (error: unknown) => void,
    compiler: ContractCompiler | undefined,
    timers: Pick<Timers, "now" | "deferred">,
  ) {
    this.#onListenerError = onListenerError;
    this.#timers = timers;
    this.#logTexts = new LogTextCache(followerCacheSizes(config.cache.bytes).logTexts);
    const data = { store, cacheBytes: config.cache.bytes, config: chainConfig };
    this.#chain = new StoreExecution(data, TRIE_BYTES, compiler, () => {
      // A blocked process would not notice that the channel to the chain's process is closed.
      if (process.ppid !== chainPid) throw new ChainUnreachableError();
      pauseThread();
    });
    this.#store = this.#chain.store;
    this.#emitted = this.#store.head();
    this.#emittedEpoch = this.#store.epoch;
    this.reader = {
      ...this.#chain.reader(genesisHash, () => this.#store.head()),
      pending() {
        throw new InvariantError("only the chain's process has the pending block");
      },
    };
    const { minimumGasPriceWei } = config.mempool;
    const startPrice = minimumGasPriceWei > 0n ? { startPrice: minimumGasPriceWei } : {};
    const oracle = new GasPriceOracle(startPrice, this.reader);
    this.suggestTip = () => oracle.suggestTip();
    this.#chain.followRules();
  }

  get execution(): ExecutionModules {
    return this.#chain.modules;
  }

  /** For the trie nodes of its states. */
  get followed(): Pick<StoreFollower, "trieNodes" | "trieNodesAt" | "numberOfState"> {
    return this.#store;
  }

  /** The current epoch of the store, which each rollback raises. */
  newestEpoch(): number {
    this.#catchUp();
    return this.#store.epoch;
  }

  /**
   * The result of `read` on the chain as it is at the first read of the current uninterrupted run of code. All bytes that this run serves had
   * arrived by then, so no client knows of anything newer.
   */
  read<T>(read: () => T): T {
    if (!this.#isCurrent) this.#catchUpForThisRun();
    for (;;) {
      try {
        const result = read();
        if (!this.#store.isStale()) return result;
      } catch (error) {
        if (!this.#store.isStale()) throw error;
      }
      this.#catchUp();
    }
  }

  #catchUp(): void {
    for (;;) {
      this.#store.catchUp();
      try {
        this.#chain.followRules();
        if (!this.#store.isStale()) return;
      } catch (error) {
        if (!this.#store.isStale()) throw error;
      }
    }
  }

  /** Batches read a hundred times in one run. */
  #catchUpForThisRun(): void {
    this.#catchUp();
    this.#isCurrent = true;
    void NOW.then(this.#endRun);
  }

  /** The complete port. @param remote answers in the chain's process what only it knows */
  view(remote: ChainView, { feeHistoryBlocksMax }: Limits["calls"]): ChainView {
    const slices = new SharedSlices(this.#timers);
    const fees = new FeeHistories(this.reader, slices);
    const { logs } = this.#store;
    const here: Followed<"chain"> = {
      ...createStoredReads(this.reader, slices),
      logs: ({ query: { terms, from, to }, limits, cancel }) => {
        const range = { from, to: Math.min(to, this.#store.head()) };
        const filter = new LogFilter(terms);
        return findLogs(logs, filter, range, limits, slices, cancel, this.#logTexts);
      },
      suggestTip: () => this.suggestTip(),
      feeHistory: ({ blockCount, at: newest, percentiles }) =>
        fees.history({ blockCount: Math.min(blockCount, feeHistoryBlocksMax), newest, percentiles }),
    };
    return {
      ...followedPort("chain", here, remote, { read: (run) => this.read(run), isDamage: isIndexDamage }),
      subscribe: (listener) => this.#subscribe(listener, remote),
    };
  }

  /** Emits a block that became the head of the chain's process. */
  emitHead(number: number, hash: Hash): void {
    if (this.#early.delete(hash)) return;
    const executed = this.read(() => (this.reader.blockHash(number) === hash ? this.reader.block(number) : undefined));
    this.#emitted = number;
    if (executed === undefined) this.#skipped.add(hash);
    else this.#emitBlock(executed);
  }

  emitRemoved(removed: readonly ExecutedBlock[], epoch: number): void {
    this.#emittedEpoch = epoch;
    this.#emitted = (removed[0]?.block.header.number ?? this.#emitted + 1) - 1;
    for (const { block } of removed) this.#early.delete(block.hash);
    const known = removed.filter(({ block }) => !this.#skipped.delete(block.hash));
    if (known.length > 0) this.#emit((listener) => listener.onRemoved?.(known));
  }

  /** Emits committed blocks whose messages are still on their way. After a rollback, emits nothing until its message has arrived. */
  emitCommitted(): void {
    const blocks = this.read(() => {
      if (this.#store.epoch !== this.#emittedEpoch) return [];
      const found: ExecutedBlock[] = [];
      for (let number = this.#emitted + 1; number <= this.#store.head(); number++) {
        found.push(knownBlock(this.#store, number));
      }
      return found;
    });
    for (const executed of blocks) {
      this.#emitted = executed.block.header.number;
      this.#early.add(executed.block.hash);
      this.#emitBlock(executed);
    }
  }

  /** Without this, an idle process would keep removed files open until it ends. */
  releaseRemoved(): void {
    this.#store.releaseRemoved();
  }

  close(): void {
    this.#store.close();
  }

  /** Requests pending transactions only if a listener takes them: each costs a message. */
  #subscribe(listener: ChainListener, remote: ChainView): () => void {
    this.#listeners.add(listener);
    const { onPending } = listener;
    const stopPending = onPending ? remote.subscribe({ onPending }) : () => {};
    return () => {
      this.#listeners.delete(listener);
      stopPending();
    };
  }

  #emitBlock(executed: ExecutedBlock): void {
    this.#emit((listener) => listener.onBlock?.(executed));
  }

  #emit(send: (listener: ChainListener) => void): void {
    for (const listener of [...this.#listeners]) {
      try {
        send(listener);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }
}
