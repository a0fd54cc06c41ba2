import type { Logger } from "../../base/telemetry/logger.ts";
import { type Metrics, SECONDS_BUCKETS } from "../../base/telemetry/metrics.ts";
import type { Tracer } from "../../base/telemetry/tracer.ts";
import type { CallListener, RpcObserver } from "../../rpc/transport/dispatch/observer.ts";
import { hostName, isOrigin } from "../../rpc/transport/server/origin.ts";

/** Origins whose rejection is logged; later ones are only counted. */
const LOGGED_MAX = 100;
const SUBJECT_CHARS_MAX = 200;

/**
 * Counts the JSON-RPC server's work, logs its failures, and logs each rejection by a setting once.
 * @param onCall gets every call
 * @param tracer gets a span of every call
 */
export function createRpcObserver(log: Logger, metrics: Metrics, onCall?: CallListener, tracer?: Tracer): RpcObserver {
  const duration = metrics.histogram({
    name: "rpc_request_duration_seconds",
    help: "Time from a call's arrival to its answer.",
    labels: ["method"],
    buckets: SECONDS_BUCKETS,
  });
  const errors = metrics.counter({
    name: "rpc_errors_total",
    help: "Calls answered with an error.",
    labels: ["method", "code"],
  });
  const failures = metrics.counter({
    name: "rpc_failures_total",
    help: "Calls that failed because of the operator (disk, data) or a bug, not the caller.",
    labels: ["method", "fault"],
  });
  const rejected = metrics.counter({
    name: "rpc_rejected_total",
    help: "Requests, connections and messages rejected before any call.",
    labels: ["transport", "reason"],
  });
  const connections = metrics.gauge({
    name: "rpc_connections",
    help: "Open connections.",
    labels: ["transport"],
  });
  const waiting = metrics.gauge({
    name: "rpc_calls_waiting",
    help: "Heavy calls that wait for a thread.",
  });
  const memory = metrics.gauge({
    name: "rpc_memory_bytes",
    help: "Memory of waiting requests (input), and of unsent answers and notifications (output).",
    labels: ["budget"],
  });
  const logged = new Set<string>();
  /** @param allowWith flag and value that would admit it; undefined if no setting would */
  const logOnce = (reason: string, subject: string, allowWith: string | undefined) => {
    const value = subject.slice(0, SUBJECT_CHARS_MAX);
    const key = `${reason} ${value}`;
    if (logged.size >= LOGGED_MAX || logged.has(key)) return;
    logged.add(key);
    log.warn(`${reason} rejected`, { [reason]: value, ...(allowWith && { allowWith }) });
  };
  return {
    onCall,
    traceCall:
      tracer &&
      ((method, { transport, traceparent }) => {
        const span = tracer.start(method, { parent: traceparent, isServer: true });
        span.describe({ "rpc.system.name": "jsonrpc", "rpc.method": method, "network.protocol.name": transport });
        return span;
      }),
    callEnded(method, errorCode, milliseconds) {
      duration.observe(milliseconds / 1000, { method });
      if (errorCode !== 0) errors.add(1, { method, code: String(errorCode) });
    },
    failed(method, fault, error) {
      failures.add(1, { method, fault });
      log.error(fault === "internal" ? "method handler crashed" : "call failed", {
        method,
        fault,
        error,
      });
    },
    rejected(transport, reason, subject) {
      rejected.add(1, { transport, reason });
      if (subject === undefined) return;
      const isShort = subject.length <= SUBJECT_CHARS_MAX;
      // Users copy advice into a shell, so it quotes only text that is a host name or an origin.
      if (reason === "origin") {
        logOnce(reason, subject, isShort && isOrigin(subject) ? `--json-rpc.cors-origins ${subject}` : undefined);
      } else if (reason === "host") {
        const name = isShort ? hostName(subject) : undefined;
        logOnce(reason, subject, name && `--json-rpc.vhosts ${name}`);
      }
    },
    connections(transport, count) {
      connections.set(count, { transport });
    },
    waiting(count) {
      waiting.set(count);
    },
    memory(budget, bytes) {
      memory.set(bytes, { budget });
    },
  };
}
