import assert from "node:assert/strict";
import { test } from "node:test";
import { assertDevIsPrivate, dangersOf, isLoopback } from "./dangers.ts";
import { loadConfig } from "./load.ts";

function configOf(flags: Record<string, string | true>, dev = false) {
  return loadConfig({ home: "/nonexistent", dev, flags, environment: {} }).config;
}

test("isLoopback knows what only this machine reaches", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "localhost", "::1"]) assert.ok(isLoopback(host));
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "example.com", "127.example.com", "127.1"])
    assert.ok(!isLoopback(host));
});

test("dangersOf has nothing to say of a dev chain's defaults, and one line for each open door", () => {
  assert.deepEqual(dangersOf(configOf({}, true)), []);
  assert.deepEqual(dangersOf(configOf({})), []);
  const open = {
    "json-rpc.enable": true,
    "json-rpc.address": "0.0.0.0:8545",
    "json-rpc.cors-origins": "*",
    "json-rpc.vhosts": "*",
    "json-rpc.allow-insecure-unlock": true,
  } as const;
  // HTTP, and WebSocket by its default.
  assert.equal(dangersOf(configOf(open)).length, 5);
});

test("assertDevIsPrivate refuses unlocked accounts on a public listener unless told so", () => {
  const open = { "json-rpc.address": "0.0.0.0:8545" };
  assert.throws(() => assertDevIsPrivate(configOf(open, true)), { code: "CONFIG_INVALID" });
  assertDevIsPrivate(configOf(open));
  assertDevIsPrivate(configOf({}, true));
  assertDevIsPrivate(configOf({ ...open, "json-rpc.allow-insecure-unlock": true }, true));
});
