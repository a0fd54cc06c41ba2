/** Limits of one connection, message, call or time: each process keeps them whole. */
const OF_EACH = new Set([
  ...["bodyBytesMax", "batchItemsMax", "batchResponseBytesMax"],
  ...["jsonDepthMax", "jsonItemsMax", "idBytesMax", "methodNameCharsMax"],
  ...["httpHeadersTimeoutMs", "messageTimeoutMs", "httpReplyTimeoutMs", "httpIdleTimeoutMs"],
  ...["httpCallTimeoutMs", "wsPingIntervalMs", "socketCallsMax", "socketPauseBytes"],
  ...["socketSendBufferBytesMax", "notificationBufferBytesMax", "ipcConnectionsMax"],
]);

/** The share of process `index` of `count`: what bounds all connections together is divided, and the shares add up to it. */
export function sharedLimits<Limits extends Readonly<Record<string, number>>>(
  limits: Limits,
  index: number,
  count: number,
): Limits {
  const entries = Object.entries(limits).map(([name, limit]) => [
    name,
    OF_EACH.has(name) ? limit : Math.floor(limit / count) + (index < limit % count ? 1 : 0),
  ]);
  return Object.fromEntries(entries) as Limits;
}
