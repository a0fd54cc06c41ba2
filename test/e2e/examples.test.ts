import assert from "node:assert/strict";
import { test } from "node:test";
import { METHODS } from "../../src/rpc/methods/methods.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode } from "../support/test-node.ts";

const withParameters = METHODS.filter(({ isPrivate, params }) => !isPrivate && params.length > 0);

test("every public method with parameters has an example, and there are no others", () => {
  const isPublic = new Set(withParameters);
  for (const method of METHODS) {
    assert.equal(method.example !== undefined, isPublic.has(method), method.name);
  }
});

test("every example can be read by the method it is for", async () => {
  const node = await startTestNode({ dev: true });
  try {
    for (const { name, example, needsConnection } of withParameters) {
      if (needsConnection || name.startsWith("eth_compileS")) continue;
      const { error } = await callHttp(node.url, name, example!);
      assert.ok(![-32602, -32601, -32603].includes(error?.code), `${name}: ${error?.message}`);
    }
  } finally {
    await node.stop();
  }
});
