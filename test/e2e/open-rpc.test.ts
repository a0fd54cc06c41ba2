import assert from "node:assert/strict";
import { test } from "node:test";
import type { OpenRpcDocument } from "../../src/rpc/methods/rpc/methods.ts";
import type { JsonSchema } from "../../src/rpc/transport/codec.ts";
import { schemaFaults } from "../support/json-schema.ts";
import { startTestNode } from "../support/test-node.ts";

const CONTENT_DESCRIPTOR: JsonSchema = {
  type: "object",
  required: ["name", "schema"],
  properties: {
    name: { type: "string", pattern: "^\\w+$" },
    required: { type: "boolean" },
    schema: { type: "object", additionalProperties: {} },
  },
};

/** What OpenRPC 1.3 asks of the members that the node writes. */
const OPEN_RPC: JsonSchema = {
  type: "object",
  required: ["openrpc", "info", "methods"],
  properties: {
    openrpc: { type: "string", pattern: "^1\\.3\\.\\d+$" },
    info: {
      type: "object",
      required: ["title", "version"],
      properties: { title: { type: "string" }, version: { type: "string" } },
    },
    methods: {
      type: "array",
      items: {
        type: "object",
        required: ["name", "params", "result"],
        properties: {
          name: { type: "string", pattern: "^[a-z0-9]+_\\w+$" },
          tags: {
            type: "array",
            items: { type: "object", required: ["name"], properties: { name: { type: "string" } } },
          },
          paramStructure: { type: "string", pattern: "^by-position$" },
          params: { type: "array", items: CONTENT_DESCRIPTOR },
          result: CONTENT_DESCRIPTOR,
          "x-needs-credential": { type: "boolean" },
        },
      },
    },
  },
};

async function openRpcOf(url: string): Promise<OpenRpcDocument> {
  const response = await fetch(new URL("/openrpc.json", url));
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  return (await response.json()) as OpenRpcDocument;
}

async function discover(url: string): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "rpc_discover", params: [] });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body });
  return ((await answer.json()) as { readonly result: unknown }).result;
}

for (const processes of ["0", "1"]) {
  test(`/openrpc.json is what rpc_discover answers, with ${processes} RPC processes`, async () => {
    const node = await startTestNode({
      dev: true,
      settings: {
        "json-rpc.api": "eth,net",
        "json-rpc.processes": processes,
        "json-rpc.deny-methods": "eth_sign*",
      },
    });
    try {
      const document = await openRpcOf(node.url);
      assert.deepEqual(schemaFaults(document, OPEN_RPC), []);
      assert.deepEqual(document, await discover(node.url));
      const names = document.methods.map(({ name }) => name);
      assert.deepEqual([...new Set(names.map((name) => name.split("_")[0]))].sort(), ["eth", "net", "rpc"]);
      assert.ok(names.includes("eth_sendTransaction"));
      assert.ok(!names.includes("eth_signTransaction"), "denied on this listener");
      assert.equal(new Set(names).size, names.length);
      const head = await fetch(new URL("/openrpc.json?x", node.url), { method: "HEAD" });
      assert.ok(Number(head.headers.get("content-length")) > 10_000);
      assert.equal((await fetch(new URL("/openrpc.json", node.url), { method: "POST" })).status, 404);
    } finally {
      await node.stop();
    }
  });
}

test("the document of all methods names each parameter of a method once", async () => {
  const node = await startTestNode({ dev: true });
  try {
    const document = await openRpcOf(node.url);
    assert.deepEqual(schemaFaults(document, OPEN_RPC), []);
    for (const { name, params } of document.methods) {
      const names = params.map((param) => param.name);
      assert.equal(new Set(names).size, names.length, name);
    }
  } finally {
    await node.stop();
  }
});
