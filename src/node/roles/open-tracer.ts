import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { Config } from "../config/config.ts";
import { clientVersion } from "../config/package.ts";
import type { OtlpTracer } from "../observe/otlp-tracer.ts";

/**
 * The tracer of this process; undefined if tracing is disabled, without loading its packages.
 * @throws TracingPackageMissingError
 */
export async function openTracer(
  { tracing: { endpoint }, cometbft: { moniker } }: Config,
  { log, ...modules }: { readonly log: Logger; readonly metrics: Metrics; readonly timers: Pick<Timers, "sleep"> },
): Promise<OtlpTracer | undefined> {
  if (endpoint === null) return undefined;
  const { startOtlpTracer } = await import("../observe/otlp-tracer.ts");
  return startOtlpTracer(
    { endpoint, instance: moniker, version: clientVersion() },
    { ...modules, log: log.child("tracing") },
  );
}
