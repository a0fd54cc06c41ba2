import type { RpcObserver } from "../../rpc/dispatch/observer.ts";
import type { Logger } from "../../telemetry/logger.ts";
import { type Metrics, SECONDS_BUCKETS } from "../../telemetry/metrics.ts";

/** Counts what the JSON-RPC server does, and logs its crashes. */
export function createRpcObserver(log: Logger, metrics: Metrics): RpcObserver {
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
  const refused = metrics.counter({
    name: "rpc_refused_total",
    help: "Requests turned away before any call.",
    labels: ["transport", "reason"],
  });
  const connections = metrics.gauge({
    name: "rpc_connections",
    help: "Open connections.",
    labels: ["transport"],
  });
  const waiting = metrics.gauge({
    name: "rpc_calls_waiting",
    help: "Calls that wait until those before them gave way.",
  });
  return {
    callEnded(method, errorCode, milliseconds) {
      duration.observe(milliseconds / 1000, { method });
      if (errorCode !== 0) errors.add(1, { method, code: String(errorCode) });
    },
    crashed(method, error) {
      log.error("method handler crashed", { method, error });
    },
    refused(transport, reason) {
      refused.add(1, { transport, reason });
    },
    connections(transport, count) {
      connections.set(count, { transport });
    },
    waiting(count) {
      waiting.set(count);
    },
  };
}
