import assert from "node:assert/strict";
import { test } from "node:test";
import { runCli } from "../../src/cli/program.ts";
import { fakeContext } from "../support/cli/fake-context.ts";
import { startConfiguredNode } from "../support/configured-node.ts";

test("evmintd ready is answered by a running node over its socket and over HTTP, without a token", async () => {
  const node = await startConfiguredNode({ settings: { "json-rpc.require-token": "true" } });
  const { context, output } = fakeContext();
  const home = ["ready", "--home", node.home];
  const overHttp = [
    ...["--ipc.path", "", "--json-rpc.enable"],
    ...["--json-rpc.address", node.url.replace("http://", "")],
  ];
  try {
    for (const args of [[], overHttp]) {
      output.stdout = "";
      assert.equal(await runCli([...home, "--wait", "60s", ...args], context), 0, output.stderr);
      assert.deepEqual(JSON.parse(output.stdout), { ready: true, head: 0 });
    }
  } finally {
    await node.stop();
  }
  assert.equal(await runCli([...home, ...overHttp], context), 1);
});
