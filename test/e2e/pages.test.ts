import assert from "node:assert/strict";
import { test } from "node:test";
import { PAGE_HEADERS } from "../../src/pages/answer-page.ts";
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

test("no page is served where the setting is off, as on a chain of one's own", async () => {
  const node = await startTestNode({ dev: true, settings: { "explorer.enable": "false" } });
  try {
    assert.equal((await get(node.url, "/explorer/")).response.status, 404);
  } finally {
    await node.stop();
  }
});
