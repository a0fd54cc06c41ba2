import assert from "node:assert/strict";
import { test } from "node:test";
import { openRaw } from "../../../test/support/raw-socket.ts";
import { sendHttp } from "../../../test/support/rpc/rpc-client.ts";
import { until } from "../../../test/support/until.ts";
import { createMetrics } from "../../base/telemetry/metrics.ts";
import { listenMetrics } from "./metrics-listener.ts";

const OPTIONS = {
  address: { host: "127.0.0.1", port: 0 },
  allowedHosts: ["localhost", "node"],
  exposition: (): string | Promise<string> => "",
  readiness: () => ({ ready: true, head: 7 }),
};

test("the metrics listener serves counters, life and readiness, and nothing else", async () => {
  const metrics = createMetrics();
  metrics.counter({ name: "blocks_total", help: "Blocks." }).add(3);
  let ready = true;
  const listener = await listenMetrics({
    ...OPTIONS,
    exposition: () => metrics.exposition(),
    readiness: () => ({ ready, head: 7 }),
  });
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

test("an address that is taken is named by its own setting", async () => {
  const listener = await listenMetrics(OPTIONS);
  try {
    const port = Number(new URL(listener.url).port);
    const taken = listenMetrics({ ...OPTIONS, address: { host: "127.0.0.1", port } });
    await assert.rejects(taken, { code: "EADDRINUSE", setting: "metrics.address" });
  } finally {
    listener.close();
  }
});

test("the metrics listener answers under names that are allowed, and to addresses", async () => {
  const listener = await listenMetrics(OPTIONS);
  const base = listener.url.replace(/\/metrics$/, "");
  const statusOf = async (host: string, path: string) =>
    (await sendHttp(`${base}${path}`, undefined, { host }, "GET")).status;
  try {
    for (const path of ["/metrics", "/livez", "/readyz"]) {
      for (const host of ["node:6060", "localhost", "127.0.0.1:6060", "[::1]:6060"]) {
        assert.equal(await statusOf(host, path), 200, `${host}${path}`);
      }
      for (const host of ["evil.example", "localhost.", "localhost.evil.example", "a b"]) {
        assert.equal(await statusOf(host, path), 403, `${host}${path}`);
      }
    }
  } finally {
    listener.close();
  }
});

test("connections that ask for nothing keep no scraper out: the oldest of them ends, and none that is being answered", async () => {
  let answer: ((text: string) => void) | undefined;
  const exposition = () => new Promise<string>((resolve) => (answer = resolve));
  const listener = await listenMetrics({ ...OPTIONS, exposition });
  const silent = [];
  try {
    const scrape = fetch(listener.url);
    await until(() => answer !== undefined, "the scrape");
    for (let i = 0; i < 200; i++) silent.push(await openRaw(listener.url));
    await silent[0]!.closed;
    assert.equal((await fetch(listener.url.replace("/metrics", "/livez"))).status, 200);
    answer!("evmint_up 1");
    assert.equal(await (await scrape).text(), "evmint_up 1");
  } finally {
    for (const { socket } of silent) socket.destroy();
    listener.close();
  }
});

test("metrics that cannot be read are an answer, not the end of the node", async () => {
  for (const exposition of [
    () => Promise.reject(new Error("the process has ended")),
    () => {
      throw new Error("a gauge failed");
    },
  ]) {
    const listener = await listenMetrics({ ...OPTIONS, exposition });
    try {
      assert.equal((await fetch(listener.url)).status, 503);
    } finally {
      listener.close();
    }
  }
});

test("the metrics listener serves a target in absolute form, whose host counts", async () => {
  const listener = await listenMetrics(OPTIONS);
  try {
    const answers = async (target: string) => {
      const { socket, closed } = await openRaw(listener.url);
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
      return (await closed).slice(9, 12);
    };
    assert.equal(await answers("http://localhost/livez"), "200");
    assert.equal(await answers("http://evil.example/livez"), "403");
  } finally {
    listener.close();
  }
});
