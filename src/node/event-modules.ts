import type { Config } from "../config/config.ts";
import type { ChainEvents } from "../rpc/chain-events.ts";
import { Filters } from "../rpc/filters/filters.ts";
import type { RpcModules } from "../rpc/methods.ts";
import { EthFeeds } from "../rpc/subscriptions/eth-feeds.ts";
import { Notifier } from "../rpc/subscriptions/notifier.ts";
import { Subscriptions } from "../rpc/subscriptions/subscriptions.ts";
import type { Logger } from "../telemetry/logger.ts";
import type { ChainCore } from "./compose-chain.ts";

type EventModules = Pick<RpcModules, "logs" | "logLimits" | "filters" | "subscriptions" | "feeds">;

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
    onError: (error) => log.error("notice could not be sent", { error }),
  });
  return {
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
    subscriptions: new Subscriptions({ maxPerConnection: jsonRpc.subscriptionsMax }),
    feeds: new EthFeeds({ events, blockJson, node, notifier }),
  };
}

/** A listener that fails is logged: neither a block nor a transaction must suffer from who watches it. */
function chainEvents(
  log: Logger,
  { chain, mempool }: Pick<ChainCore, "chain" | "mempool">,
): ChainEvents {
  const guarded =
    <Event>(listener: (event: Event) => void) =>
    (event: Event): void => {
      try {
        listener(event);
      } catch (error) {
        log.error("event listener failed", { error });
      }
    };
  return {
    onBlock(listener) {
      const safe = guarded(listener);
      return chain.subscribe(({ executed }) => safe(executed));
    },
    onRollback: (listener) => chain.onRollback(guarded(listener)),
    onPending: (listener) => mempool.onPending(guarded(listener)),
  };
}
