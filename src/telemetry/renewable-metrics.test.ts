import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "./metrics.ts";
import { renewableMetrics } from "./renewable-metrics.ts";

test("renewableMetrics goes on counting and reads a gauge from its newest owner", () => {
  const metrics = renewableMetrics(createMetrics("test"));
  for (const height of [5, 0]) {
    metrics.counter({ name: "blocks_total", help: "" }).add(2);
    metrics.gaugeOf({ name: "head", help: "" }, () => height);
  }
  const lines = metrics.exposition().split("\n");
  assert.ok(lines.includes("test_blocks_total 4"));
  assert.ok(lines.includes("test_head 0"));
});
