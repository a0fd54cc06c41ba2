import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { test } from "node:test";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { sendHttp } from "../../src/rpc/testing/rpc-client.ts";
import { startConfiguredNode } from "../support/configured-node.ts";

/** Files of a home with their content, but for what a chain writes by itself. */
function filesOf(home: string): ReadonlyMap<string, string> {
  const paths = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(home, join(entry.parentPath, entry.name)));
  const settings = paths.filter((path) => !/^(data|cache|debug)\//.test(path));
  return new Map(settings.map((path) => [path, readFileSync(join(home, path), "utf8")]));
}

test("no method that strangers may call writes into a production home, and none compiles", async (context) => {
  const { url, home, stop } = await startConfiguredNode({ settings: { "json-rpc.api": "all" } });
  context.after(stop);
  const before = filesOf(home);
  assert.equal(statSync(join(home, "config/node-key.hex")).mode & 0o777, 0o600);
  const open = METHODS.filter(({ isPrivate }) => !isPrivate);
  assert.ok(open.length > 100);
  for (const { name } of open) {
    for (const params of [[], ["0x1"], ["latest"]]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: name, params });
      const { json } = await sendHttp(url, body);
      if (name === "eth_getCompilers" && params.length === 0) assert.deepEqual(json.result, []);
    }
  }
  assert.deepEqual(filesOf(home), before);
});
