import type { LimitChanges } from "../../src/node/config/config.ts";

const HOUR_MS = 3_600_000;

/**
 * Flag of Node.js for a program that waits for others, as a client or as a node that stops: its timers of 5 seconds and more run after a time in
 * which only a hang is left.
 */
export const PATIENT_TIMERS = `--import=${new URL("patient-timers.mjs", import.meta.url)}`;

/** Of a node: a call of a busy machine is not aborted after the five seconds that users have. */
export const PATIENT_ENVIRONMENT = { EVMINT_JSON_RPC_EVM_TIMEOUT: "1h" };

/** Times of requests, traces and processes, so that no busy machine ends one. */
const PATIENT = {
  server: {
    httpHeadersTimeoutMs: HOUR_MS,
    messageTimeoutMs: HOUR_MS,
    httpReplyTimeoutMs: HOUR_MS,
    httpCallTimeoutMs: HOUR_MS,
    compileTimeoutMs: HOUR_MS,
  },
  calls: { traceTimeoutMs: HOUR_MS, threadGraceMs: HOUR_MS },
  processes: { startMs: HOUR_MS, openMs: HOUR_MS },
};

/** `changes`, with an hour for each time that they do not name. */
export function patient(changes: LimitChanges = {}): LimitChanges {
  return {
    ...changes,
    server: { ...PATIENT.server, ...changes.server },
    calls: { ...PATIENT.calls, ...changes.calls },
    processes: { ...PATIENT.processes, ...changes.processes },
  };
}
