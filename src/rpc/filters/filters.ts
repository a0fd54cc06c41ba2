import type { LogFilter } from "../../chain/logs/log-filter.ts";
import type { LogSource } from "../../chain/logs/log-source.ts";
import type { ChainReader } from "../../chain/reader.ts";
import type { Connection } from "../dispatch/context.ts";
import { FilterKindError, FilterNotFoundError, TooManyError } from "../dispatch/errors.ts";
import { LogListWriter } from "../json/log-list.ts";
import { transactionText } from "../json/transaction-json.ts";
import { plainListText } from "../json/write.ts";
import type { JsonText } from "../params/codec.ts";
import { type BlockRange, type LogCriteria, resolveFutureRange } from "../params/log-criteria.ts";
import type { ChainEvents } from "../ports/chain-events.ts";
import { findLogs, type LogLimits } from "./log-search.ts";
import { PendingRing } from "./pending-ring.ts";
import { randomId } from "./random-id.ts";
import { RemovedLogs } from "./removed-logs.ts";

export type FilterOptions = {
  /** Filters of all callers. */
  readonly max: number;
  /** Those made over one WebSocket or IPC connection. */
  readonly maxPerConnection: number;
  readonly idleMs: number;
  readonly logLimits: LogLimits;
};

export type FilterModules = {
  readonly chain: ChainReader;
  readonly logs: LogSource;
  readonly events: ChainEvents;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
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

/** How many filters a connection made; not the connection itself, which may be gone long before its filters. */
type Owner = { filters: number };

type Filter = Kind & {
  readonly id: string;
  /** undefined: made over HTTP */
  readonly owner: Owner | undefined;
  polledMs: number;
  /** The poll under way, behind which the next one waits. */
  poll: Promise<unknown> | undefined;
};

/** geth's numbers of its kinds of filters, for its refusal. */
const KIND_NUMBERS = { logs: 1, pending: 4, blocks: 5 } as const;
/** A filter polled this recently is not given up for a new one. */
const YOUNG_MS = 30_000;
const SWEEP_MS = 30_000;
/** Hashes in one answer; the next poll goes on behind them. */
const HASHES_MAX = 10_000;

/**
 * Polling filters. A filter is a place in the chain, in the list of rollbacks or in the list of pending transactions, from which
 * its next poll reads on: it costs nothing while blocks come, and nothing it has not read has to be kept for it.
 * Any connection may poll a filter, wherever it was made.
 */
export class Filters {
  readonly #options: FilterOptions;
  readonly #modules: FilterModules;
  /** In order of their last poll. */
  readonly #filters = new Map<string, Filter>();
  readonly #owners = new WeakMap<Connection, Owner>();
  readonly #pending = new PendingRing();
  #pendingFilters = 0;
  readonly #removed = new RemovedLogs();
  readonly #stop: readonly (() => void)[];
  #sweeper: NodeJS.Timeout | undefined;

  constructor(options: FilterOptions, modules: FilterModules) {
    this.#options = options;
    this.#modules = modules;
    const { events } = modules;
    this.#stop = [
      events.onPending((entries) => {
        if (this.#pendingFilters > 0) this.#pending.add(entries);
      }),
      events.onRollback((removed) => {
        if (this.#filters.size > 0) this.#removed.add(removed);
      }),
    ];
  }

  get size(): number {
    return this.#filters.size;
  }

  /** @throws InvalidParamsError, TooManyError */
  addLogs(criteria: LogCriteria, filter: LogFilter, connection?: Connection): string {
    const range = resolveFutureRange(criteria);
    return this.#add({ kind: "logs", criteria, filter, range, ...this.#now() }, connection);
  }

  /** @throws TooManyError */
  addBlocks(connection?: Connection): string {
    return this.#add({ kind: "blocks", ...this.#now() }, connection);
  }

  /**
   * @param isFull whole transactions instead of hashes
   * @throws TooManyError
   */
  addPending(isFull: boolean, connection?: Connection): string {
    return this.#add({ kind: "pending", isFull, next: this.#pending.end }, connection);
  }

  /**
   * What occurred since the last call, as a JSON list. What does not fit one answer comes with the next.
   * @throws FilterNotFoundError
   */
  changes(id: string): JsonText | Promise<JsonText> {
    const filter = this.#find(id);
    this.#filters.delete(id);
    this.#filters.set(id, filter);
    filter.polledMs = this.#modules.now();
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
   * What a log filter was made of.
   * @throws FilterNotFoundError, FilterKindError
   */
  criteriaOf(id: string): { readonly criteria: LogCriteria; readonly filter: LogFilter } {
    const filter = this.#find(id);
    if (filter.kind !== "logs") throw new FilterKindError(id, KIND_NUMBERS[filter.kind]);
    return filter;
  }

  /** False when there is no such filter. */
  remove(id: string): boolean {
    const filter = this.#filters.get(id);
    if (filter === undefined) return false;
    this.#filters.delete(id);
    if (filter.owner !== undefined) filter.owner.filters--;
    if (filter.kind === "pending" && --this.#pendingFilters === 0) this.#pending.clear();
    if (this.#filters.size === 0) {
      this.#removed.clear();
      this.#stopSweeping();
    }
    return !this.#isOver(filter);
  }

  /** Removes filters nobody polled for too long; done every now and then while there are any. */
  sweep(): void {
    for (const [id, filter] of this.#filters) {
      if (!this.#isOver(filter)) break;
      this.remove(id);
    }
  }

  /** Forgets everything and listens no more. */
  close(): void {
    for (const stop of this.#stop) stop();
    this.#stopSweeping();
    this.#pendingFilters = 0;
    this.#filters.clear();
    this.#removed.clear();
    this.#pending.clear();
  }

  #add(kind: Kind, connection: Connection | undefined): string {
    this.sweep();
    this.#makeRoom();
    const owner = connection && this.#ownerOf(connection);
    if (owner !== undefined) owner.filters++;
    const id = randomId();
    if (kind.kind === "pending") this.#pendingFilters++;
    this.#sweeper ??= setInterval(() => this.sweep(), SWEEP_MS).unref();
    this.#filters.set(id, {
      ...kind,
      id,
      owner,
      polledMs: this.#modules.now(),
      poll: undefined,
    });
    return id;
  }

  /** Somebody who makes filters and leaves them takes the place of his own first. */
  #makeRoom(): void {
    if (this.#filters.size < this.#options.max) return;
    for (const [id, { polledMs }] of this.#filters) {
      if (this.#modules.now() - polledMs < YOUNG_MS) break;
      this.remove(id);
      return;
    }
    throw new TooManyError(`too many filters: ${this.#options.max}`);
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
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  #find(id: string): Filter {
    const filter = this.#filters.get(id);
    if (filter === undefined || this.#isOver(filter)) throw new FilterNotFoundError();
    return filter;
  }

  #isOver({ polledMs }: Filter): boolean {
    return this.#modules.now() - polledMs > this.#options.idleMs;
  }

  #now() {
    return { next: this.#headNumber() + 1, nextRollback: this.#removed.end };
  }

  #headNumber(): number {
    return this.#modules.chain.head().block.header.number;
  }

  #hold<T>(filter: Filter, poll: Promise<T>): Promise<T> {
    const held = poll.finally(() => {
      if (filter.poll === settled) filter.poll = undefined;
    });
    const settled = held.catch(() => {});
    filter.poll = settled;
    return held;
  }

  #read(filter: Filter): JsonText | Promise<JsonText> {
    if (filter.kind === "logs") return this.#readLogs(filter);
    return filter.kind === "blocks" ? this.#readBlocks(filter) : this.#readPending(filter);
  }

  #readLogs(filter: Filter & { kind: "logs" }): JsonText | Promise<JsonText> {
    const list = new LogListWriter();
    const { range } = filter;
    this.#removed.addTo(list, filter.filter, filter.nextRollback, filter.next);
    this.#goBack(filter);
    const from = Math.max(filter.next, range.from);
    const to = Math.min(this.#headNumber(), range.to);
    if (from > to) return list.finish();
    const found = findLogs(
      this.#modules.logs,
      filter.filter,
      { from, to },
      this.#options.logLimits,
      undefined,
      list,
    );
    const take = (done: Awaited<typeof found>) => {
      filter.next = done.end;
      return done.json;
    };
    return found instanceof Promise ? found.then(take) : take(found);
  }

  #readBlocks(filter: Filter & { kind: "blocks" }): string {
    const { chain } = this.#modules;
    this.#goBack(filter);
    const end = Math.min(this.#headNumber() + 1, filter.next + HASHES_MAX);
    const hashes: string[] = [];
    for (; filter.next < end; filter.next++) {
      hashes.push(chain.hashAt(filter.next)!);
    }
    return plainListText(hashes);
  }

  /** Blocks that came in place of others have to be seen again. */
  #goBack(filter: Filter & { kind: "logs" | "blocks" }): void {
    filter.next = this.#removed.unseenFrom(filter.nextRollback, filter.next);
    filter.nextRollback = this.#removed.end;
  }

  #readPending(filter: Filter & { kind: "pending" }): string {
    const announced = this.#pending.since(filter.next);
    filter.next = this.#pending.end;
    if (!filter.isFull) return plainListText(announced.map(({ tx }) => tx.hash));
    return `[${announced.map(({ tx, sender }) => transactionText(tx, sender)).join(",")}]`;
  }
}
