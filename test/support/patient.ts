const HOUR_MS = 3_600_000;

/** Times of requests, so that no busy machine ends one. */
export const PATIENT = {
  httpHeadersTimeoutMs: HOUR_MS,
  messageTimeoutMs: HOUR_MS,
  httpReplyTimeoutMs: HOUR_MS,
  httpCallTimeoutMs: HOUR_MS,
  compileTimeoutMs: HOUR_MS,
};
