import { LogIndex } from "../../chain/logs/log-index.ts";
import type { ChainReader } from "../../chain/reader.ts";
import type { PooledTransaction } from "../../mempool/pool.ts";
import { createMemoryKv } from "../../storage/memory-kv.ts";
import type { ExecutedBlock } from "../../types/block.ts";
import type { Connection } from "../dispatch/context.ts";
import { RequestContext } from "../dispatch/context.ts";
import { type FilterOptions, Filters } from "../filters/filters.ts";
import type { BlockJsonCache } from "../json/block-json-cache.ts";
import type { ChainEvents } from "../ports/chain-events.ts";
import type { NodeInfo } from "../ports/node-info.ts";
import { EthFeeds } from "../subscriptions/eth-feeds.ts";
import { LogFeed } from "../subscriptions/log-feed.ts";
import { Notifier } from "../subscriptions/notifier.ts";
import { Subscriptions } from "../subscriptions/subscriptions.ts";

export const TEST_LOG_LIMITS = {
  resultsMax: 10_000,
  bytesMax: 20_000_000,
  workMax: 1_000_000,
  termsMax: 1000,
};

/** Events that a test sets off. */
export function createTestEvents() {
  const listeners = {
    block: new Set<(executed: ExecutedBlock) => void>(),
    rollback: new Set<(removed: readonly ExecutedBlock[]) => void>(),
    pending: new Set<(entries: readonly PooledTransaction[]) => void>(),
  };
  const on =
    <T>(set: Set<T>) =>
    (listener: T) => {
      set.add(listener);
      return () => set.delete(listener);
    };
  const events: ChainEvents = {
    onBlock: on(listeners.block),
    onRollback: on(listeners.rollback),
    onPending: on(listeners.pending),
  };
  return {
    events,
    block: (executed: ExecutedBlock) => {
      for (const listener of listeners.block) listener(executed);
    },
    rollback: (removed: readonly ExecutedBlock[]) => {
      for (const listener of listeners.rollback) listener(removed);
    },
    pending: (entries: readonly PooledTransaction[]) => {
      for (const listener of listeners.pending) listener(entries);
    },
    listenerCount: () => listeners.block.size + listeners.rollback.size + listeners.pending.size,
  };
}

/** Log search, filters and subscriptions over `blocks`, without waiting for turns of the event loop. */
export function createTestEventModules(
  blocks: readonly ExecutedBlock[],
  modules: {
    readonly chain: ChainReader;
    readonly node: NodeInfo;
    readonly blockJson: BlockJsonCache;
  },
  options: Partial<FilterOptions> & {
    readonly now?: () => number;
    readonly subscriptionsMax?: number;
    readonly totalSubscriptionsMax?: number;
    readonly subscriptionTermsMax?: number;
  } = {},
) {
  const logs = new LogIndex(createMemoryKv());
  for (const executed of blocks) logs.remember(executed);
  const emitter = createTestEvents();
  const { events } = emitter;
  const {
    now = () => 0,
    subscriptionsMax = 128,
    totalSubscriptionsMax = 1000,
    subscriptionTermsMax = 1000,
    ...filterOptions
  } = options;
  const failures: unknown[] = [];
  const notifier = new Notifier({
    queueCharsMax: 1_000_000,
    defer: (work) => work(),
    onError: (error) => failures.push(error),
  });
  return {
    events,
    logs,
    emitter,
    failures,
    logLimits: TEST_LOG_LIMITS,
    filters: new Filters(
      {
        max: 10_000,
        maxPerConnection: 1000,
        idleMs: 300_000,
        logLimits: TEST_LOG_LIMITS,
        ...filterOptions,
      },
      { chain: modules.chain, logs, events, now },
    ),
    subscriptions: new Subscriptions({
      maxPerConnection: subscriptionsMax,
      max: totalSubscriptionsMax,
    }),
    feeds: new EthFeeds({
      ...modules,
      events,
      notifier,
      logs: new LogFeed({ termsMax: subscriptionTermsMax }, notifier),
    }),
  };
}

/** A connection that notes what it is told. */
export class TestConnection implements Connection {
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came
  readonly notices: any[] = [];
  readonly #closeTasks: (() => void)[] = [];
  #isClosed = false;

  notify(messages: readonly string[]): void {
    for (const message of messages) this.notices.push(JSON.parse(message));
  }

  overrun(): void {
    this.close();
  }

  onClose(task: () => void): void {
    if (this.#isClosed) task();
    else this.#closeTasks.push(task);
  }

  close(): void {
    this.#isClosed = true;
    for (const task of this.#closeTasks.splice(0)) task();
  }

  /** The context of one message of this connection. */
  context(): RequestContext {
    return new RequestContext({
      transport: "ws",
      access: { namespaces: new Set(["eth"]), isOpen: true },
      credential: undefined,
      connection: this,
    });
  }
}
