import type { Timer, Timers } from "../../../base/telemetry/timers.ts";
import { inSlices } from "../../../base/threads/in-slices.ts";
import { andThen, type MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { LogFilter } from "../../../chain/logs/log-filter.ts";
import type { ChainView, FoundLogs, LogLimits } from "../../ports/chain-view.ts";
import type { JsonText } from "../../transport/codec.ts";
import type { CallContext, Connection } from "../../transport/dispatch/context.ts";
import { FilterKindError, FilterNotFoundError, TooManyError } from "../../transport/errors.ts";
import { EqualShares } from "../../transport/server/equal-shares.ts";
import { listInSteps } from "../json/list-in-steps.ts";
import { LogListWriter } from "../json/log-list.ts";
import { transactionText } from "../json/transaction-json.ts";
import { joinedJson, plainListText } from "../json/write.ts";
import { type BlockRange, type LogCriteria, resolveFutureRange } from "../params/log-criteria.ts";
import { PendingRing } from "./pending-ring.ts";
import { randomId } from "./random-id.ts";
import { RemovedLogs } from "./removed-logs.ts";

export type FilterOptions = {
  /** Filters of all callers. */
  readonly max: number;
  /** Those made over one WebSocket or IPC connection. */
  readonly maxPerConnection: number;
  /** Addresses and topics of all log filters together. */
  readonly termsMax: number;
  readonly idleMs: number;
  readonly logLimits: LogLimits;
};

export type FilterModules = {
  readonly chain: Pick<ChainView, "head" | "blockHashes" | "logs" | "subscribe">;
  readonly timers: Pick<Timers, "now" | "every">;
  /** For long answers. */
  readonly slices: SharedSlices;
};

type Kind =
  | {
      readonly kind: "logs";
      readonly criteria: LogCriteria;
      readonly filter: LogFilter;
      readonly range: BlockRange;
      /** First block not seen yet. */
      next: number;
      nextRollback: number;
    }
  | { readonly kind: "blocks"; next: number; nextRollback: number }
  | { readonly kind: "pending"; readonly isFull: boolean; next: number };

/** Counts the filters of a connection; not the connection itself, which may close long before its filters end. */
type Owner = { filters: number };

type Filter = Kind & {
  readonly id: string;
  /** undefined: made over HTTP */
  readonly owner: Owner | undefined;
  /** Who made it. */
  readonly address: string | undefined;
  polledMs: number;
  /** The poll under way, for which the next one waits. */
  poll: Promise<unknown> | undefined;
};

/** Who makes a filter. */
type Maker = Pick<CallContext, "connection" | "source">;

/** geth's numbers of the filter kinds, which its error names. */
const KIND_NUMBERS = { logs: 1, pending: 4, blocks: 5 } as const;
/** A filter polled this recently is not evicted for a new one. */
const YOUNG_MS = 30_000;
const SWEEP_MS = 30_000;
/** Hashes in one answer; the next poll goes on after them. */
const HASHES_MAX = 10_000;

/**
 * Polling filters. A filter is a position in the chain, in the list of rollbacks or in the list of pending transactions, from which
 * its next poll reads on: it costs nothing when a block arrives, and nothing is stored for it until it is polled.
 * Any connection may poll a filter, whichever created it.
 */
export class Filters {
  readonly #options: FilterOptions;
  readonly #modules: FilterModules;
  /** In order of their last poll. */
  readonly #filters = new Map<string, Filter>();
  readonly #owners = new WeakMap<Connection, Owner>();
  readonly #pending = new PendingRing();
  #pendingFilters = 0;
  readonly #counts: EqualShares;
  readonly #terms: EqualShares;
  readonly #removed = new RemovedLogs();
  readonly #stop: () => void;
  #sweeper: Timer | undefined;

  constructor(options: FilterOptions, modules: FilterModules) {
    this.#options = options;
    this.#modules = modules;
    this.#counts = new EqualShares(options.max);
    this.#terms = new EqualShares(options.termsMax);
    this.#stop = modules.chain.subscribe({
      onPending: (transactions) => {
        if (this.#pendingFilters > 0) this.#pending.add(transactions);
      },
      onRemoved: (removed) => {
        if (this.#filters.size > 0) this.#removed.add(removed);
      },
    });
  }

  get size(): number {
    return this.#filters.size;
  }

  has(id: string): boolean {
    return this.#filters.has(id);
  }

  /** @throws InvalidParamsError, TooManyError */
  addLogs(criteria: LogCriteria, maker?: Maker): MaybePromise<string> {
    const range = resolveFutureRange(criteria);
    const filter = new LogFilter(criteria);
    return andThen(this.#now(), (now) => this.#add({ kind: "logs", criteria, filter, range, ...now }, maker));
  }

  /** @throws TooManyError */
  addBlocks(maker?: Maker): MaybePromise<string> {
    return andThen(this.#now(), (now) => this.#add({ kind: "blocks", ...now }, maker));
  }

  /**
   * @param isFull whole transactions instead of hashes
   * @throws TooManyError
   */
  addPending(isFull: boolean, maker?: Maker): string {
    return this.#add({ kind: "pending", isFull, next: this.#pending.end }, maker);
  }

  /**
   * What occurred since the last call, as a JSON list. What does not fit one answer comes with the next.
   * @throws FilterNotFoundError
   */
  changes(id: string): MaybePromise<JsonText> {
    const filter = this.#find(id);
    this.#filters.delete(id);
    this.#filters.set(id, filter);
    filter.polledMs = this.#modules.timers.now();
    if (filter.poll === undefined) {
      const changes = this.#read(filter);
      return changes instanceof Promise ? this.#hold(filter, changes) : changes;
    }
    return this.#hold(
      filter,
      filter.poll.then(() => this.#read(filter)),
    );
  }

  /**
   * The criteria of a log filter.
   * @throws FilterNotFoundError, FilterKindError
   */
  criteriaOf(id: string): LogCriteria {
    const filter = this.#find(id);
    if (filter.kind !== "logs") throw new FilterKindError(id, KIND_NUMBERS[filter.kind]);
    return filter.criteria;
  }

  /** False if the filter does not exist. */
  remove(id: string): boolean {
    const filter = this.#filters.get(id);
    if (filter === undefined) return false;
    this.#filters.delete(id);
    if (filter.owner !== undefined) filter.owner.filters--;
    this.#counts.add(filter.address, -1);
    this.#terms.add(filter.address, -termsOf(filter));
    if (filter.kind === "pending" && --this.#pendingFilters === 0) this.#pending.clear();
    if (this.#filters.size === 0) {
      this.#removed.clear();
      this.#stopSweeping();
    }
    return !this.#isOver(filter);
  }

  /** Removes filters that were not polled for `idleMs`; a timer calls it while there are any. */
  sweep(): void {
    for (const [id, filter] of this.#filters) {
      if (!this.#isOver(filter)) break;
      this.remove(id);
    }
  }

  /** Drops every filter and unsubscribes from the chain. */
  close(): void {
    this.#stop();
    this.#stopSweeping();
    this.#pendingFilters = 0;
    this.#counts.clear();
    this.#terms.clear();
    this.#filters.clear();
    this.#removed.clear();
    this.#pending.clear();
  }

  #add(kind: Kind, { connection, source }: Maker = { connection: undefined }): string {
    this.sweep();
    const terms = termsOf(kind);
    const address = source?.remoteAddress;
    this.#makeRoom(terms, address);
    const owner = connection && this.#ownerOf(connection);
    this.#counts.add(address, 1);
    this.#terms.add(address, terms);
    if (owner !== undefined) owner.filters++;
    const id = randomId();
    if (kind.kind === "pending") this.#pendingFilters++;
    this.#sweeper ??= this.#modules.timers.every(SWEEP_MS, "filters", () => this.sweep());
    this.#filters.set(id, {
      ...kind,
      id,
      owner,
      address,
      polledMs: this.#modules.timers.now(),
      poll: undefined,
    });
    return id;
  }

  /**
   * Evicts filters that were not polled for longest until one of `address` with so many terms fits.
   * @throws TooManyError when those left were all polled recently
   */
  #makeRoom(terms: number, address: string | undefined): void {
    const { max, termsMax } = this.#options;
    const hasTooMany = () => !this.#counts.mayTake(address, 1);
    const hasTooManyTerms = () => terms > 0 && !this.#terms.mayTake(address, terms);
    for (const [id, filter] of terms > termsMax ? [] : this.#filters) {
      if (!hasTooMany() && !hasTooManyTerms()) return;
      if (this.#modules.timers.now() - filter.polledMs < YOUNG_MS) break;
      if (hasTooMany() || termsOf(filter) > 0) this.remove(id);
    }
    if (hasTooMany()) throw new TooManyError(`too many filters: ${max}`);
    if (hasTooManyTerms()) {
      throw new TooManyError(`too many addresses and topics in all filters: ${termsMax}`);
    }
  }

  /** @throws TooManyError when it may not make another one */
  #ownerOf(connection: Connection): Owner {
    const known = this.#owners.get(connection);
    const owner = known ?? { filters: 0 };
    const { maxPerConnection } = this.#options;
    if (owner.filters >= maxPerConnection) {
      throw new TooManyError(`too many filters of one connection: ${maxPerConnection}`);
    }
    if (known === undefined) this.#owners.set(connection, owner);
    return owner;
  }

  #stopSweeping(): void {
    this.#sweeper?.cancel();
    this.#sweeper = undefined;
  }

  #find(id: string): Filter {
    const filter = this.#filters.get(id);
    if (filter === undefined || this.#isOver(filter)) throw new FilterNotFoundError();
    return filter;
  }

  #isOver({ polledMs }: Filter): boolean {
    return this.#modules.timers.now() - polledMs > this.#options.idleMs;
  }

  /** Where a new filter starts to read. */
  #now(): MaybePromise<{ next: number; nextRollback: number }> {
    return andThen(this.#modules.chain.head(), ({ header }) => ({
      next: header.number + 1,
      nextRollback: this.#removed.end,
    }));
  }

  #hold<T>(filter: Filter, poll: Promise<T>): Promise<T> {
    const held = poll.finally(() => {
      if (filter.poll === settled) filter.poll = undefined;
    });
    const settled = held.catch(() => {});
    filter.poll = settled;
    return held;
  }

  #read(filter: Filter): MaybePromise<JsonText> {
    if (filter.kind === "logs") return this.#readLogs(filter);
    return filter.kind === "blocks" ? this.#readBlocks(filter) : this.#readPending(filter);
  }

  #readLogs(filter: Filter & { kind: "logs" }): MaybePromise<JsonText> {
    const { criteria, range, nextRollback, next } = filter;
    const rollbacks = this.#removed.end;
    const list = new LogListWriter();
    this.#removed.addTo(list, filter.filter, nextRollback, next);
    const unseen = this.#removed.unseenFrom(nextRollback, next);
    const from = Math.max(unseen, range.from);
    if (from > range.to) {
      filter.next = unseen;
      filter.nextRollback = rollbacks;
      return list.finish();
    }
    // What was removed counts against the limits of the answer too.
    const { resultsMax, bytesMax, workMax } = this.#options.logLimits;
    const limits = {
      resultsMax: resultsMax - list.count,
      bytesMax: bytesMax - list.length,
      workMax,
    };
    const query = { terms: criteria, from, to: range.to };
    return andThen(this.#modules.chain.logs({ query, limits }), (found) => {
      // The chain was rolled back during the search, so results may be stale.
      if (this.#removed.end !== rollbacks) return this.#readLogs(filter);
      filter.next = found.end;
      filter.nextRollback = rollbacks;
      return joined(list, found);
    });
  }

  #readBlocks(filter: Filter & { kind: "blocks" }): MaybePromise<string> {
    const rollbacks = this.#removed.end;
    // Blocks that replace removed ones are new to the caller.
    const first = this.#removed.unseenFrom(filter.nextRollback, filter.next);
    return andThen(this.#modules.chain.blockHashes({ first, countMax: HASHES_MAX }), (hashes) => {
      if (this.#removed.end !== rollbacks) return this.#readBlocks(filter);
      filter.next = first + hashes.length;
      filter.nextRollback = rollbacks;
      return plainListText(hashes);
    });
  }

  #readPending(filter: Filter & { kind: "pending" }): MaybePromise<string> {
    const announced = this.#pending.since(filter.next);
    filter.next = this.#pending.end;
    if (!filter.isFull) return plainListText(announced.map(({ tx }) => tx.hash));
    return inSlices(
      listInSteps(announced, ({ tx, sender }) => transactionText(tx, sender)),
      this.#modules.slices,
    );
  }
}

/** Addresses and topics that a filter keeps in memory. */
function termsOf(kind: Kind): number {
  if (kind.kind !== "logs") return 0;
  const { addresses, topics } = kind.criteria;
  return topics.reduce((sum, { length }) => sum + length, addresses.length);
}

/** A list's text without its opening bracket. */
function withoutBracket(list: JsonText): JsonText {
  if (typeof list === "string") return list.slice(1);
  const [first, ...rest] = list instanceof Uint8Array ? [list] : list;
  return [first!.subarray(1), ...rest];
}

/** One list of the removed logs and those found. */
function joined(removed: LogListWriter, found: FoundLogs): JsonText {
  if (removed.count === 0) return found.json;
  if (found.count === 0) return removed.finish();
  return joinedJson(removed.finishOpen(), withoutBracket(found.json));
}
