import { createRequire } from "node:module";
import { hostname } from "node:os";
import { NodeError } from "../../base/errors.ts";
import type { Logger } from "../../base/telemetry/logger.ts";
import type { Metrics } from "../../base/telemetry/metrics.ts";
import type { Timers } from "../../base/telemetry/timers.ts";
import type { Span, SpanAttributes, Tracer } from "../../base/telemetry/tracer.ts";

/** Ended spans that wait for the endpoint; later ones are dropped. The library's default, whatever the environment says. */
const QUEUE_SPANS_MAX = 2_048;
/** Time limit including retries. Until then the library keeps the process alive, even after its node has stopped. */
const EXPORT_MS = 2_000;
/** Time that a stopping node gives the export of waiting spans. */
const FLUSH_MS = 500;

/** Not installed with the node: see `peerDependencies` of package.json. */
export const OPENTELEMETRY_PACKAGES = [
  "@opentelemetry/api@1.9.1",
  "@opentelemetry/core@2.12.1",
  "@opentelemetry/exporter-trace-otlp-http@0.223.1",
  "@opentelemetry/resources@2.12.1",
  "@opentelemetry/sdk-trace-base@2.12.1",
] as const;

/** A package of OpenTelemetry is missing: the text has the command to install it. */
export class TracingPackageMissingError extends NodeError {
  readonly code = "TRACING_PACKAGE_MISSING";
}

export type OtlpTracer = Tracer & {
  /** Sends the waiting spans, for a limited time. */
  flush(): Promise<void>;
  close(): Promise<void>;
};

type OtlpOptions = {
  /** URL to which spans are posted, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly endpoint: string;
  /** Distinguishes the nodes of an operator. */
  readonly instance: string;
  readonly version: string;
};

type OtlpModules = {
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly timers: Pick<Timers, "sleep">;
  /** Loads a package. */
  readonly load?: (name: string) => unknown;
};

/**
 * A tracer that sends spans to a collector by OTLP over HTTP, in batches. It registers nothing globally, so a program that holds a node may
 * trace with its own library.
 * @throws TracingPackageMissingError
 */
export async function startOtlpTracer(
  { endpoint, instance, version }: OtlpOptions,
  { log, metrics, timers, load = createRequire(import.meta.url) }: OtlpModules,
): Promise<OtlpTracer> {
  const { api, core, resources, sdk, OTLPTraceExporter } = loadOpenTelemetry(load);
  const { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } = api;
  const exported = metrics.counter({
    name: "trace_spans_total",
    help: "Spans by outcome: accepted by the collector, or lost.",
    labels: ["result"],
    values: ["sent", "lost"],
  });
  let isFailing = false;

  const exporter = new OTLPTraceExporter({ url: endpoint, timeoutMillis: EXPORT_MS });
  const counted: import("@opentelemetry/sdk-trace-base").SpanExporter = {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const isLost = result.code !== core.ExportResultCode.SUCCESS;
        exported.add(spans.length, { result: isLost ? "lost" : "sent" });
        if (isLost !== isFailing) {
          isFailing = isLost;
          if (isLost) log.warn("the collector does not accept traces", { endpoint, error: result.error });
          else log.info("the collector accepts traces again", { endpoint });
        }
        // An error would reach the library's global handler, which may belong to another program.
        done({ code: core.ExportResultCode.SUCCESS });
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
  const provider = new sdk.BasicTracerProvider({
    resource: resources.resourceFromAttributes({
      "service.name": "evmint",
      "service.version": version,
      "service.instance.id": instance,
      "host.name": hostname(),
      "process.pid": process.pid,
    }),
    spanProcessors: [new sdk.BatchSpanProcessor(counted, { maxQueueSize: QUEUE_SPANS_MAX })],
  });
  const tracer = provider.getTracer("evmint", version);

  /** Spans that the collector does not accept in time are lost: a stopping node does not wait for it. */
  async function limited(work: Promise<void>): Promise<void> {
    await Promise.race([work, timers.sleep(FLUSH_MS, { keepsAlive: true })]);
  }

  return {
    start(name, { parent, isServer = false }): Span {
      const remote = parent === undefined ? null : core.parseTraceParent(parent);
      const context =
        remote === null ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true });
      const span = tracer.startSpan(name, { kind: isServer ? SpanKind.SERVER : SpanKind.INTERNAL }, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-0${traceFlags.toString(16)}`,
        describe: (attributes: SpanAttributes) => void span.setAttributes(attributes),
        end(errorType) {
          if (errorType !== undefined) {
            span.setAttribute("error.type", errorType);
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        },
      };
    },
    flush: () => limited(provider.forceFlush()),
    close: () => limited(provider.shutdown()),
  };
}

/**
 * Uses `require`, since the packages are CommonJS. Code from V8's code cache can import only with a warning, which would be the first line of
 * the log.
 * @throws TracingPackageMissingError
 */
function loadOpenTelemetry(load: (name: string) => unknown) {
  try {
    const { OTLPTraceExporter } = load(
      "@opentelemetry/exporter-trace-otlp-http",
    ) as typeof import("@opentelemetry/exporter-trace-otlp-http");
    return {
      api: load("@opentelemetry/api") as typeof import("@opentelemetry/api"),
      core: load("@opentelemetry/core") as typeof import("@opentelemetry/core"),
      OTLPTraceExporter,
      resources: load("@opentelemetry/resources") as typeof import("@opentelemetry/resources"),
      sdk: load("@opentelemetry/sdk-trace-base") as typeof import("@opentelemetry/sdk-trace-base"),
    };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code !== "MODULE_NOT_FOUND") throw cause;
    const name = /module '([^']+)'/.exec(message)?.[1];
    throw new TracingPackageMissingError(
      `tracing.endpoint needs OpenTelemetry, and the package ${name} is not installed: npm install ${OPENTELEMETRY_PACKAGES.join(" ")}`,
      { name },
      { cause },
    );
  }
}
