import assert from "node:assert/strict";
import { test } from "node:test";
import { TEST_NODE } from "../testing/test-methods.ts";
import { listening } from "./listening.ts";
import { peerCount } from "./peer-count.ts";
import { version } from "./version.ts";

test("net_version is a decimal string", async () => {
  assert.equal(await version.call({ node: TEST_NODE }), "1337");
});

test("net_peerCount is a JSON integer", async () => {
  assert.equal(await peerCount.call({ node: { ...TEST_NODE, peerCount: () => 25 } }), 25);
});

test("net_listening is a boolean", async () => {
  assert.equal(await listening.call({ node: TEST_NODE }), true);
});
