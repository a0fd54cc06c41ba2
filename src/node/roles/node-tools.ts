import type { Failures } from "../../base/telemetry/failures.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { Tracer } from "../../base/telemetry/tracer.ts";

/** The reporting tools and clocks that all parts of a node share. */
export type NodeTools = {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly failures: Failures;
  readonly timers: Timers;
  /** For work of other threads and processes. */
  readonly machineTimers: Timers;
  /** undefined while tracing is disabled */
  readonly tracer: Tracer | undefined;
};
