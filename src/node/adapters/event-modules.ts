import type { Config } from "../../config/config.ts";
import { Filters } from "../../rpc/filters/filters.ts";
import type { RpcModules } from "../../rpc/methods.ts";
import type { ChainEvents } from "../../rpc/ports/chain-events.ts";
import { EthFeeds } from "../../rpc/subscriptions/eth-feeds.ts";
import { LogFeed } from "../../rpc/subscriptions/log-feed.ts";
import { Notifier } from "../../rpc/subscriptions/notifier.ts";
import { Subscriptions } from "../../rpc/subscriptions/subscriptions.ts";
import type { Logger } from "../../telemetry/logger.ts";
import type { ChainCore } from "../compose-chain.ts";

type EventModules = Pick<
  RpcModules,
  "events" | "logs" | "logLimits" | "filters" | "subscriptions" | "feeds"
> & { readonly notifier: Notifier };

/** Log search, filters and subscriptions over the chain of `core`. They listen until their `close` is called. */
export function createEventModules(
  { jsonRpc }: Config,
  log: Logger,
  core: Pick<ChainCore, "chain" | "reader" | "mempool" | "store">,
  { blockJson, node }: Pick<RpcModules, "blockJson" | "node">,
): EventModules {
  const events = chainEvents(log, core);
  const { logs } = core.store;
  const logLimits = {
    resultsMax: jsonRpc.logsResultsMax,
    bytesMax: jsonRpc.logsBytesMax,
    workMax: jsonRpc.logsWorkMax,
    termsMax: jsonRpc.filterTermsMax,
  };
  const notifier = new Notifier({
    queueCharsMax: jsonRpc.notificationQueueBytesMax,
    onError: (error) => log.error("notification could not be sent", { error }),
  });
  return {
    events,
    logs,
    logLimits,
    filters: new Filters(
      {
        max: jsonRpc.filtersMax,
        maxPerConnection: jsonRpc.connectionFiltersMax,
        idleMs: jsonRpc.filterIdleMs,
        logLimits,
      },
      { chain: core.reader, logs, events, now: () => performance.now() },
    ),
    subscriptions: new Subscriptions({
      maxPerConnection: jsonRpc.subscriptionsMax,
      max: jsonRpc.totalSubscriptionsMax,
    }),
    notifier,
    feeds: new EthFeeds({
      events,
      blockJson,
      node,
      notifier,
      logs: new LogFeed({ termsMax: jsonRpc.subscriptionTermsMax }, notifier),
    }),
  };
}

/** The chain guards itself; a listener of the pool that fails is logged, so that no transaction suffers from who watches it. */
function chainEvents(
  log: Logger,
  { chain, mempool }: Pick<ChainCore, "chain" | "mempool">,
): ChainEvents {
  return {
    onBlock: (listener) => chain.subscribe(({ executed }) => listener(executed)),
    onRollback: chain.onRollback,
    onPending: (listener) =>
      mempool.onPending((transactions) => {
        try {
          listener(transactions);
        } catch (error) {
          log.error("listener of the pool failed", { error });
        }
      }),
  };
}
