import assert from "node:assert/strict";
import { test } from "node:test";
import { type Logger, SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { openWs, request } from "../support/clients.ts";
import { sendHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode } from "../support/test-node.ts";

/** Collects the warnings of a node. */
function collecting(lines: { readonly message: string; readonly data: unknown }[]): Logger {
  const logger: Logger = {
    ...SILENT_LOGGER,
    warn: (message, data) => void lines.push({ message, data }),
    child: () => logger,
  };
  return logger;
}

test("a rejected origin or host is logged once with the flag that allows it, and named in the answer", async () => {
  const lines: { readonly message: string; readonly data: unknown }[] = [];
  const node = await startTestNode({ dev: true, log: collecting(lines) });
  try {
    const origin = "https://remix.ethereum.org";
    const body = request("eth_chainId");
    for (let i = 0; i < 3; i++) {
      const { status, json } = await sendHttp(node.url, body, { origin });
      assert.equal(status, 403);
      assert.ok(json.error.message.includes("json-rpc.cors-origins"));
    }
    await assert.rejects(openWs(node.wsUrl, { origin }), /403/);
    const byHost = await sendHttp(node.url, body, { host: "node.example" });
    assert.ok(byHost.json.error.message.includes("json-rpc.vhosts"));
    const rejections = lines.filter(({ message }) => message.endsWith("rejected"));
    assert.deepEqual(
      rejections.map(({ data }) => data),
      [
        { origin, allowWith: `--json-rpc.cors-origins ${origin}` },
        { host: "node.example", allowWith: "--json-rpc.vhosts node.example" },
      ],
    );
  } finally {
    await node.stop();
  }
});

test("on a dev chain cors-origins adds to the origins of this machine", async () => {
  const origin = "https://remix.ethereum.org";
  const node = await startTestNode({ dev: true, settings: { "json-rpc.cors-origins": origin } });
  try {
    for (const allowed of [origin, "http://localhost:3000", "http://127.0.0.1:5173"]) {
      const { status } = await sendHttp(node.url, request("eth_chainId"), { origin: allowed });
      assert.equal(status, 200, allowed);
    }
  } finally {
    await node.stop();
  }
});

test("/livez and /readyz answer on the RPC port as on the metrics listener, behind the Host check", async () => {
  const node = await startTestNode({
    dev: true,
    settings: { "metrics.enable": "true", "metrics.address": "127.0.0.1:0" },
  });
  try {
    const metrics = node.node.listeners.find(({ kind }) => kind === "metrics")!.url;
    for (const path of ["/livez", "/readyz"]) {
      const [ours, theirs] = await Promise.all(
        [`${node.url}${path}`, metrics.replace("/metrics", path)].map((url) => fetch(url)),
      );
      assert.deepEqual([ours!.status, theirs!.status], [200, 200]);
      assert.deepEqual(await ours!.json(), await theirs!.json(), path);
    }
    const rebound = await sendHttp(`${node.url}/livez`, undefined, { host: "evil.example" }, "GET");
    assert.equal(rebound.status, 403);
  } finally {
    await node.stop();
  }
});

test("eth_unsubscribe over HTTP finds no subscription, as geth answers", async () => {
  const node = await startTestNode({ dev: true });
  try {
    const { json } = await sendHttp(node.url, request("eth_unsubscribe", ["0x1"]));
    assert.deepEqual(json.error, { code: -32000, message: "subscription not found" });
    const wrong = await sendHttp(node.url, request("eth_unsubscribe", [1]));
    assert.equal(wrong.json.error.code, -32602);
  } finally {
    await node.stop();
  }
});
