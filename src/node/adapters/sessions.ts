import type { Config } from "../../config/config.ts";
import { HashrateRegistry } from "../../rpc/eth/client/hashrate-registry.ts";
import { KeyedLock } from "../../rpc/eth/submit/keyed-lock.ts";
import { Filters } from "../../rpc/filters/filters.ts";
import { BlockJsonCache } from "../../rpc/json/block-json-cache.ts";
import type { RemotePorts, RpcSettings, Sessions } from "../../rpc/ports/rpc-ports.ts";
import { EthFeeds } from "../../rpc/subscriptions/eth-feeds.ts";
import { LogFeed } from "../../rpc/subscriptions/log-feed.ts";
import { Notifier } from "../../rpc/subscriptions/notifier.ts";
import { Subscriptions } from "../../rpc/subscriptions/subscriptions.ts";
import type { Logger } from "../../telemetry/logger.ts";

/** Filters, subscriptions and caches over the ports. They are subscribed to the chain until their `close` is called. */
export function createSessions(
  { jsonRpc }: Config,
  log: Logger,
  { chain, node }: Pick<RemotePorts, "chain" | "node">,
  { logLimits }: Pick<RpcSettings, "logLimits">,
): Sessions {
  const blockJson = new BlockJsonCache({
    bytesMax: jsonRpc.blockCacheBytes,
    nullPowFields: jsonRpc.nullPowFields,
  });
  const notifier = new Notifier({
    queueCharsMax: jsonRpc.notificationQueueBytesMax,
    onError: (error) => log.error("notification could not be sent", { error }),
  });
  const now = () => performance.now();
  return {
    filters: new Filters(
      {
        max: jsonRpc.filtersMax,
        maxPerConnection: jsonRpc.connectionFiltersMax,
        termsMax: jsonRpc.totalFilterTermsMax,
        idleMs: jsonRpc.filterIdleMs,
        logLimits,
      },
      { chain, now },
    ),
    subscriptions: new Subscriptions({
      maxPerConnection: jsonRpc.subscriptionsMax,
      max: jsonRpc.totalSubscriptionsMax,
    }),
    feeds: new EthFeeds({
      chain,
      blockJson,
      node,
      notifier,
      logs: new LogFeed({ termsMax: jsonRpc.subscriptionTermsMax }, notifier),
    }),
    blockJson,
    sendLock: new KeyedLock(),
    hashrates: new HashrateRegistry(now),
  };
}
