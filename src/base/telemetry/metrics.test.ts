import assert from "node:assert/strict";
import { test } from "node:test";
import { InvariantError } from "../errors.ts";
import { createMetrics, mergeExpositions, renewableMetrics } from "./metrics.ts";

test("a counter of known label values has each of them from the start", () => {
  const metrics = createMetrics();
  const kinds = metrics.counter({ name: "proofs_total", help: "P.", labels: ["kind"], values: ["one", "two"] });
  assert.match(metrics.exposition(), /^evmint_proofs_total\{kind="one"\} 0\nevmint_proofs_total\{kind="two"\} 0$/m);
  kinds.add(1, { kind: "two" });
  assert.match(metrics.exposition(), /^evmint_proofs_total\{kind="one"\} 0\nevmint_proofs_total\{kind="two"\} 1$/m);
});

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

const COUNTER = { name: "calls_total", help: "Calls, by method.", labels: ["method"] };

function registry(calls: Readonly<Record<string, number>>, seconds: readonly number[]) {
  const metrics = createMetrics();
  const counter = metrics.counter(COUNTER);
  const histogram = metrics.histogram({ name: "call_seconds", help: "Time.", buckets: [1, 2] });
  for (const [method, count] of Object.entries(calls)) counter.add(count, { method });
  for (const value of seconds) histogram.observe(value);
  return metrics;
}

test("mergeExpositions equals the exposition of one registry that saw everything", () => {
  const one = registry({ a: 1, b: 2 }, [0.5, 3]).exposition();
  const other = registry({ b: 3, c: 4 }, [1.5]).exposition();
  const whole = registry({ a: 1, b: 5, c: 4 }, [0.5, 3, 1.5]).exposition();
  assert.equal(mergeExpositions([one, other]), whole);
});

test("mergeExpositions takes up metrics that only one registry has, and label values with blanks", () => {
  const one = registry({ "a b": 1 }, []);
  const other = createMetrics();
  other.gaugeOf({ name: "connections", help: "Open." }, () => 7);
  const merged = mergeExpositions([one.exposition(), other.exposition()]);
  assert.equal(merged, `${one.exposition()}${other.exposition()}`);
});

test("mergeExpositions of one text is that text", () => {
  const text = registry({ a: 1 }, [1]).exposition();
  assert.equal(mergeExpositions([text]), text);
});

test("renewableMetrics continues counters and reads a gauge from its newest owner", () => {
  const metrics = renewableMetrics(createMetrics("test"));
  for (const height of [5, 0]) {
    metrics.counter({ name: "blocks_total", help: "" }).add(2);
    metrics.gaugeOf({ name: "head", help: "" }, () => height);
  }
  const lines = metrics.exposition().split("\n");
  assert.ok(lines.includes("test_blocks_total 4"));
  assert.ok(lines.includes("test_head 0"));
});
