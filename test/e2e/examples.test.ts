import assert from "node:assert/strict";
import { test } from "node:test";
import { EXAMPLES } from "../../src/rpc/methods/examples.ts";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { callHttp } from "../../src/rpc/testing/rpc-client.ts";
import { startTestNode } from "../support/test-node.ts";

const withParameters = METHODS.filter(({ isPrivate, params }) => !isPrivate && params.length > 0);

test("every public method with parameters has an example, and there are no others", () => {
  const names = withParameters.map(({ name }) => name).sort();
  assert.deepEqual(Object.keys(EXAMPLES).sort(), names);
});

test("every example can be read by the method it is for", async () => {
  const node = await startTestNode({ dev: true });
  try {
    for (const { name, needsConnection } of withParameters) {
      if (needsConnection || name.startsWith("eth_compileS")) continue;
      const { error } = await callHttp(node.url, name, EXAMPLES[name]!);
      assert.ok(![-32602, -32601, -32603].includes(error?.code), `${name}: ${error?.message}`);
    }
  } finally {
    await node.stop();
  }
});
