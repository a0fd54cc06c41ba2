import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeExpositions } from "./merge-expositions.ts";
import { createMetrics } from "./metrics.ts";

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
