import assert from "node:assert/strict";
import { test } from "node:test";
import { createMetrics } from "../../telemetry/metrics.ts";
import { listenMetrics } from "./metrics-listener.ts";

test("the metrics listener serves counters, life and readiness, and nothing else", async () => {
  const metrics = createMetrics();
  metrics.counter({ name: "blocks_total", help: "Blocks." }).add(3);
  let ready = true;
  const listener = await listenMetrics(
    { host: "127.0.0.1", port: 0 },
    () => metrics.exposition(),
    () => ({
      ready,
      head: 7,
    }),
  );
  const base = listener.url.replace(/\/metrics$/, "");
  try {
    assert.match(await (await fetch(listener.url)).text(), /^evmint_blocks_total 3$/m);
    assert.equal((await fetch(`${base}/livez`)).status, 200);
    assert.deepEqual(await (await fetch(`${base}/readyz`)).json(), { ready: true, head: 7 });
    ready = false;
    assert.equal((await fetch(`${base}/readyz`)).status, 503);
    assert.equal((await fetch(`${base}/else`)).status, 404);
    assert.equal((await fetch(listener.url, { method: "POST" })).status, 405);
  } finally {
    listener.close();
  }
});
