import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import { CallBundles } from "../../rpc/methods/call-bundles.ts";
import { Filters } from "../../rpc/methods/filters/filters.ts";
import { BlockJsonCache } from "../../rpc/methods/json/block-json-cache.ts";
import type { RpcPorts, RpcSettings } from "../../rpc/methods/rpc-ports.ts";
import {
  type ConnectionSessions,
  HashrateRegistry,
  KeyedLock,
  type Sessions,
  TraceChains,
} from "../../rpc/methods/sessions.ts";
import { EthFeeds } from "../../rpc/methods/subscriptions/eth-feeds.ts";
import { EventsSwitch } from "../../rpc/methods/subscriptions/events-switch.ts";
import { LogFeed } from "../../rpc/methods/subscriptions/log-feed.ts";
import { Notifier } from "../../rpc/methods/subscriptions/notifier.ts";
import { Subscriptions } from "../../rpc/methods/subscriptions/subscriptions.ts";
import type { ChainEvents } from "../../rpc/ports/chain-view.ts";
import type { NodePort } from "../../rpc/ports/node.ts";
import type { Config } from "../config/config.ts";

/** Ports that feed the sessions. */
export type ConnectionPorts = {
  readonly chain: ChainEvents;
  readonly node: Pick<NodePort, "info">;
};

/** Creates the sessions of connections, in the process that serves them. They stay subscribed to the chain until `feeds.close` is called. */
export function createConnectionSessions(
  { jsonRpc, cache, limits }: Config,
  log: Logger,
  { chain, node, timers }: ConnectionPorts & { readonly timers: Timers },
): ConnectionSessions {
  const slices = { json: new SharedSlices(timers), hash: new SharedSlices(timers) };
  const blockJson = new BlockJsonCache(
    {
      bytesMax: Math.min(limits.calls.blockCacheBytesMax, cache.bytes),
      nullPowFields: jsonRpc.nullPowFields,
    },
    slices.json,
  );
  const { maxPerConnection, max, termsMax, queueBytesMax, traceChainsMax } = limits.subscriptions;
  const notifier = new Notifier(
    {
      queueCharsMax: queueBytesMax,
      onError: (error) => log.error("notification could not be sent", { error }),
    },
    timers,
  );
  return {
    subscriptions: new Subscriptions({ maxPerConnection, max }),
    feeds: new EthFeeds({
      chain,
      blockJson,
      node,
      notifier,
      timers,
      logs: new LogFeed({ termsMax }, notifier),
    }),
    traceChains: new TraceChains({
      max: traceChainsMax,
      onError: (error) => log.error("block of a chain could not be traced", { error }),
    }),
    blockJson,
    slices,
  };
}

/** `createConnectionSessions` once: a second call with the ports of another chain makes the same sessions follow that chain. */
export function lastingConnectionSessions(
  config: Config,
  log: Logger,
  timers: Timers,
): (ports: ConnectionPorts) => ConnectionSessions {
  let opened: { readonly events: EventsSwitch; readonly sessions: ConnectionSessions } | undefined;
  return ({ chain, node }) => {
    if (opened === undefined) {
      const events = new EventsSwitch(chain);
      opened = { events, sessions: createConnectionSessions(config, log, { chain: events, node, timers }) };
    } else {
      opened.events.follow(chain);
    }
    return opened.sessions;
  };
}

/** Creates filters and other sessions that end when the chain is replaced. They stay subscribed to the chain until `filters.close` is called. */
export function createFilterSessions(
  { limits }: Config,
  { chain, timers }: Pick<RpcPorts, "chain" | "timers">,
  { logLimits }: Pick<RpcSettings, "logLimits">,
): Omit<Sessions, keyof ConnectionSessions> {
  return {
    filters: new Filters({ ...limits.filters, logLimits }, { chain, timers, slices: new SharedSlices(timers) }),
    sendLock: new KeyedLock(),
    callBundles: new CallBundles(),
    hashrates: new HashrateRegistry(() => timers.now()),
  };
}

/** Gauges of connections' sessions. */
export function reportSessions(
  metrics: Pick<Metrics, "gaugeOf">,
  { subscriptions, feeds, traceChains }: Pick<Sessions, "subscriptions" | "feeds" | "traceChains">,
): void {
  metrics.gaugeOf({ name: "rpc_subscriptions", help: "Subscriptions of all connections." }, () => subscriptions.size);
  metrics.gaugeOf(
    { name: "rpc_trace_chains", help: "Subscriptions to the traces of a range of blocks." },
    () => traceChains.size,
  );
  metrics.gaugeOf(
    {
      name: "rpc_notification_queue_bytes",
      help: "Events not yet sent to their subscribers, each counted once.",
    },
    () => feeds.waitingBytes,
  );
}
