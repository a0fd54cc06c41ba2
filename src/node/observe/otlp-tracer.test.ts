import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";
import { NodeLog } from "../../../test/support/node-log.ts";
import { startOtlpCollector } from "../../../test/support/otlp-collector.ts";
import { fatalTimers as timers } from "../../base/telemetry/fatal-timers.ts";
import { createMetrics } from "../../base/telemetry/metrics.ts";
import { startOtlpTracer, TracingPackageMissingError } from "./otlp-tracer.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const NODE = { instance: "validator-0", version: "1" };

test("startOtlpTracer continues the trace of a caller, and begins one where its header is malformed", async () => {
  const collector = await startOtlpCollector();
  const tracer = await startOtlpTracer(
    { endpoint: collector.endpoint, ...NODE },
    { log: new NodeLog().logger, metrics: createMetrics(), timers },
  );
  try {
    const span = tracer.start("continued", { parent: `00-${TRACE}-${CALLER}-01` });
    assert.match(span.traceparent, new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
    tracer.start("inner", { parent: span.traceparent }).end("TX_NONCE");
    span.end();
    // Its caller does not want a record of it.
    tracer.start("not sampled", { parent: `00-${TRACE}-${CALLER}-00` }).end();
    const malformed = ["", "00", `00-${TRACE}-${CALLER}`, `00-${"0".repeat(32)}-${CALLER}-01`, `${"x".repeat(10_000)}`];
    for (const parent of malformed) tracer.start("begun", { parent }).end();
    await tracer.flush();

    const [continued, inner] = [collector.named("continued")[0]!, collector.named("inner")[0]!];
    assert.deepEqual([continued.traceId, continued.parentSpanId], [TRACE, CALLER]);
    assert.deepEqual([inner.traceId, inner.parentSpanId], [TRACE, continued.spanId]);
    assert.deepEqual([inner.status.code, inner.attributes["error.type"]], [2, "TX_NONCE"]);
    assert.equal(continued.resource["service.name"], "evmint");
    assert.equal(continued.resource["service.instance.id"], "validator-0");
    assert.deepEqual(collector.named("not sampled"), []);
    const begun = collector.named("begun");
    assert.equal(begun.length, malformed.length);
    for (const { traceId, parentSpanId } of begun) {
      assert.notEqual(traceId, TRACE);
      assert.equal(parentSpanId, undefined);
    }
    assert.equal(new Set(begun.map(({ traceId }) => traceId)).size, malformed.length);
  } finally {
    await tracer.close();
    collector.close();
  }
});

test("startOtlpTracer retains a bounded number of spans while nothing takes them, says so once and counts them", async () => {
  const collector = await startOtlpCollector();
  collector.close();
  const log = new NodeLog();
  const metrics = createMetrics();
  const tracer = await startOtlpTracer({ endpoint: collector.endpoint, ...NODE }, { log: log.logger, metrics, timers });
  for (let i = 0; i < 20_000; i++) tracer.start("span", {}).end();
  await tracer.close();
  await log.until(/the collector does not accept traces/);
  const lost = Number(/^evmint_trace_spans_total\{result="lost"\} (\d+)$/m.exec(metrics.exposition())![1]);
  assert.ok(lost > 0 && lost <= 2 * 2_048, `${lost} spans were retained`);
  assert.match(metrics.exposition(), /^evmint_trace_spans_total\{result="sent"\} 0$/m);
  log.assertErrors([]);
});

test("startOtlpTracer names the package that is not installed", async () => {
  const starting = startOtlpTracer(
    { endpoint: "http://127.0.0.1:4318/v1/traces", ...NODE },
    {
      log: new NodeLog().logger,
      metrics: createMetrics(),
      timers,
      load: (name) => createRequire(import.meta.url)(`${name}-that-nobody-installs`),
    },
  );
  await assert.rejects(starting, (error) => {
    assert.ok(error instanceof TracingPackageMissingError);
    assert.match(error.message, /npm install .*@opentelemetry\/exporter-trace-otlp-http@/);
    return true;
  });
});
