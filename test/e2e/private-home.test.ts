import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { test } from "node:test";
import { CONSOLIDATION_REQUEST_ADDRESS } from "../../src/base/params/gas.ts";
import { renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { startConfiguredNode } from "../support/configured-node.ts";
import { sendHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode } from "../support/test-node.ts";

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

test("a chain whose Prague blocks lack a contract does not start from there on, and says which", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-no-contract-"));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(join(home, "config"));
  const genesis = JSON.parse(renderGenesis({ chainId: 7n, timestamp: 1, alloc: new Map() }));
  delete genesis.alloc[CONSOLIDATION_REQUEST_ADDRESS];
  const startAt = async (pragueTime: number) => {
    Object.assign(genesis.config, { pragueTime, osakaTime: pragueTime });
    writeFileSync(join(home, "config/genesis.json"), JSON.stringify(genesis));
    const node = await startTestNode({ home });
    await node.stop();
  };
  await startAt(2 ** 33);
  await assert.rejects(startAt(2), { code: "GENESIS_REQUEST_CONTRACTS", message: /0x0000BBdDc7CE.* \(EIP-7251\)/ });
});
