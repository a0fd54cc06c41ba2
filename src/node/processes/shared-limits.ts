import type { Config } from "../config/config.ts";

/** Limits of one connection, message, call or duration: each process has them undivided. */
const OF_EACH = new Set([
  "bodyBytesMax",
  "batchItemsMax",
  "batchResponseBytesMax",
  "jsonDepthMax",
  "jsonItemsMax",
  "idBytesMax",
  "methodNameCharsMax",
  "httpHeadersBytesMax",
  "httpHeadersTimeoutMs",
  "messageTimeoutMs",
  "httpReplyTimeoutMs",
  "httpIdleTimeoutMs",
  "httpCallTimeoutMs",
  "compileTimeoutMs",
  "wsPingIntervalMs",
  "socketCallsMax",
  "socketPauseBytes",
  "socketSendBufferBytesMax",
  "notificationBufferBytesMax",
  "ipcConnectionsMax",
]);

/** The share of process `index` of `count`: limits on all connections together are divided, and the shares add up to the limit. */
export function sharedLimits<Limits extends Readonly<Record<string, number>>>(
  limits: Limits,
  index: number,
  count: number,
): Limits {
  const entries = Object.entries(limits).map(([name, limit]) => [
    name,
    OF_EACH.has(name) ? limit : share(limit, index, count),
  ]);
  return Object.fromEntries(entries) as Limits;
}

/** The settings of process `index` of `count`: settings for all processes together are divided among them. */
export function sharedConfig(config: Config, index: number, count: number): Config {
  const { limits, jsonRpc } = config;
  const { max, termsMax, traceChainsMax } = limits.subscriptions;
  const shared = sharedLimits({ max, termsMax, traceChainsMax }, index, count);
  const { workers } = jsonRpc;
  return {
    ...config,
    limits: { ...limits, subscriptions: { ...limits.subscriptions, ...shared } },
    jsonRpc: {
      ...jsonRpc,
      // With 0 threads no process has one; otherwise each has at least one for long calls.
      workers: Math.min(workers, Math.max(1, share(workers, index, count))),
    },
  };
}

function share(limit: number, index: number, count: number): number {
  return Math.floor(limit / count) + (index < limit % count ? 1 : 0);
}
