import type { Config } from "../../config/config.ts";
import { TraceChains } from "../../rpc/debug/trace/trace-chains.ts";
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
import type { Metrics } from "../../telemetry/metrics.ts";

/** What belongs to a connection: it is in the process that serves it. Subscribed to the chain until `feeds.close` is called. */
export function createConnectionSessions(
  { jsonRpc }: Config,
  log: Logger,
  { chain, node }: Pick<RemotePorts, "chain" | "node">,
): Pick<Sessions, "subscriptions" | "feeds" | "traceChains" | "blockJson"> {
  const blockJson = new BlockJsonCache({
    bytesMax: jsonRpc.blockCacheBytes,
    nullPowFields: jsonRpc.nullPowFields,
  });
  const notifier = new Notifier({
    queueCharsMax: jsonRpc.notificationQueueBytesMax,
    onError: (error) => log.error("notification could not be sent", { error }),
  });
  return {
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
    traceChains: new TraceChains({
      max: jsonRpc.traceChainsMax,
      onError: (error) => log.error("block of a chain could not be traced", { error }),
    }),
    blockJson,
  };
}

/** Filters, subscriptions and caches over the ports. They are subscribed to the chain until their `close` is called. */
export function createSessions(
  config: Config,
  log: Logger,
  ports: Pick<RemotePorts, "chain" | "node">,
  { logLimits }: Pick<RpcSettings, "logLimits">,
): Sessions {
  const { jsonRpc } = config;
  const now = () => performance.now();
  return {
    ...createConnectionSessions(config, log, ports),
    filters: new Filters(
      {
        max: jsonRpc.filtersMax,
        maxPerConnection: jsonRpc.connectionFiltersMax,
        termsMax: jsonRpc.totalFilterTermsMax,
        idleMs: jsonRpc.filterIdleMs,
        logLimits,
      },
      { chain: ports.chain, now },
    ),
    sendLock: new KeyedLock(),
    hashrates: new HashrateRegistry(now),
  };
}

/** Gauges of what belongs to connections. */
export function reportSessions(
  metrics: Pick<Metrics, "gaugeOf">,
  { subscriptions, feeds, traceChains }: Pick<Sessions, "subscriptions" | "feeds" | "traceChains">,
): void {
  metrics.gaugeOf(
    { name: "rpc_subscriptions", help: "Subscriptions of all connections." },
    () => subscriptions.size,
  );
  metrics.gaugeOf(
    { name: "rpc_trace_chains", help: "Subscriptions to the traces of a range of blocks." },
    () => traceChains.size,
  );
  metrics.gaugeOf(
    {
      name: "rpc_notification_queue_bytes",
      help: "Events that wait to be sent to their subscribers, each counted once.",
    },
    () => feeds.waitingBytes,
  );
}
