import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../errors.ts";
import { createMetrics } from "./metrics.ts";

test("exposition prints counters, gauges and histograms in the Prometheus text format", () => {
  const metrics = createMetrics();
  metrics.counter({ name: "blocks_total", help: "Blocks." }).add(2);
  const requests = metrics.counter({ name: "requests_total", help: "R.", labels: ["method"] });
  requests.add(1, { method: 'a"b\\c\nd' });
  metrics.gaugeOf({ name: "head", help: "Head." }, () => 9);
  const seconds = metrics.histogram({ name: "call_seconds", help: "C.", buckets: [0.1, 1] });
  for (const value of [0.1, 0.5, 7]) seconds.observe(value);
  assert.equal(
    metrics.exposition(),
    `# HELP evmint_blocks_total Blocks.
# TYPE evmint_blocks_total counter
evmint_blocks_total 2
# HELP evmint_requests_total R.
# TYPE evmint_requests_total counter
evmint_requests_total{method="a\\"b\\\\c\\nd"} 1
# HELP evmint_head Head.
# TYPE evmint_head gauge
evmint_head 9
# HELP evmint_call_seconds C.
# TYPE evmint_call_seconds histogram
evmint_call_seconds_bucket{le="0.1"} 1
evmint_call_seconds_bucket{le="1"} 2
evmint_call_seconds_bucket{le="+Inf"} 3
evmint_call_seconds_sum 7.6
evmint_call_seconds_count 3
`,
  );
});

test("a metric declared twice or badly named is a bug", () => {
  const metrics = createMetrics();
  metrics.gauge({ name: "x", help: "" });
  assert.throws(() => metrics.gauge({ name: "x", help: "" }), InvariantError);
  assert.throws(() => metrics.gauge({ name: "not-snake", help: "" }), InvariantError);
  const counter = metrics.counter({ name: "y", help: "" });
  assert.throws(() => counter.add(-1), InvariantError);
});

test("labels beyond the bound are counted together", () => {
  const metrics = createMetrics();
  const counter = metrics.counter({ name: "x_total", help: "", labels: ["who"] });
  for (let i = 0; i < 5000; i++) counter.add(1, { who: `caller ${i}` });
  const lines = metrics.exposition().trim().split("\n");
  assert.ok(lines.length <= 1003);
  assert.ok(lines.includes('evmint_x_total{who="other"} 4000'));
});
