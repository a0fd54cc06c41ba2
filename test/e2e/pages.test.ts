import assert from "node:assert/strict";
import { request } from "node:http";
import { test } from "node:test";
import { PAGE_HEADERS } from "../../src/web/pages/answer-page.ts";
import { startTestNode } from "../support/test-node.ts";

/** Status, headers and body of a page of the node at `url`. */
async function get(url: string, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(new URL(path, url), { headers });
  return { response, body: await response.text() };
}

for (const processes of ["0", "2"]) {
  test(`a dev chain serves the explorer and what it links to, with ${processes} RPC processes`, async () => {
    const settings = { "json-rpc.processes": processes };
    const node = await startTestNode({ dev: true, settings });
    try {
      const { response, body } = await get(node.url, "/explorer/");
      assert.equal(response.status, 200);
      for (const [name, value] of Object.entries(PAGE_HEADERS)) {
        assert.equal(response.headers.get(name), value);
      }
      const links = [...body.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!);
      assert.ok(links.length >= 2);
      for (const path of links) assert.equal((await get(node.url, path)).response.status, 200);
      // Calls of the page itself come from the origin that served it.
      const call = await fetch(node.url, {
        method: "POST",
        headers: { "content-type": "application/json", origin: node.url },
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      });
      assert.equal(call.status, 200);
      const foreign = await get(node.url, "/explorer/", { origin: "http://evil.example" });
      assert.equal(foreign.response.status, 403);
    } finally {
      await node.stop();
    }
  });
}

/** The status of a GET with headers that `fetch` does not let programs set. */
function statusOf(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (response) => {
      response.resume();
      resolve(response.statusCode!);
    })
      .once("error", reject)
      .end();
  });
}

test("no door of a dev chain serves what a page of another origin embeds, and each follows a link", async () => {
  const settings = { "metrics.enable": "true", "metrics.address": "127.0.0.1:0" };
  const node = await startTestNode({ dev: true, settings });
  const metrics = node.node.listeners.find(({ kind }) => kind === "metrics")!.url;
  const api = "/api?module=account&action=balance&address=0x0000000000000000000000000000000000000001";
  const paths = ["/", "/explorer/", "/docs/", "/openrpc.json", "/readyz", "/livez", api];
  const doors = [...paths.map((path) => `${node.url}${path}`), metrics, metrics.replace("/metrics", "/readyz")];
  try {
    for (const url of doors) {
      for (const site of ["cross-site", "same-site"]) {
        const from = { "sec-fetch-site": site };
        const embedded = { ...from, "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image" };
        assert.equal(await statusOf(url, embedded), 403, url);
        assert.equal(
          await statusOf(url, { ...from, "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }),
          403,
          url,
        );
        assert.equal(
          await statusOf(url, { ...from, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" }),
          200,
          url,
        );
      }
      assert.equal(await statusOf(url, { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" }), 200, url);
      assert.equal(await statusOf(url, {}), 200, url);
    }
  } finally {
    await node.stop();
  }
});

test("no page is served where the setting is off, as on a chain of one's own", async () => {
  const node = await startTestNode({ dev: true, settings: { "explorer.enable": "false" } });
  try {
    assert.equal((await get(node.url, "/explorer/")).response.status, 404);
  } finally {
    await node.stop();
  }
});
