import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { listening, peerCount, version } from "./methods.ts";

test("net_version is a decimal string", async () => {
  assert.equal(await version.call(createTestModules()), "1337");
});

test("net_peerCount is a JSON integer", async () => {
  assert.equal(await peerCount.call(createTestModules({ info: { peerCount: 25 } })), 25);
});

test("net_listening is a boolean", async () => {
  assert.equal(await listening.call(createTestModules()), true);
});
