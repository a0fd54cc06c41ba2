import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hash } from "../../base/primitives/hash.ts";
import { type ModuleRequest, RequestedModules } from "./requested-modules.ts";

/** Magic and version: the smallest module. */
const MODULE = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
const HASH = `0x${"ab".repeat(32)}` as Hash;

test("RequestedModules has a module from its arrival until it is dropped", async () => {
  const requests: ModuleRequest[] = [];
  const modules = new RequestedModules(async (request) => {
    requests.push(request);
    return MODULE;
  });
  const code = Uint8Array.of(0);
  const key = `osaka ${HASH}`;
  const request = { hash: HASH, code, hardfork: "osaka" };
  assert.equal(modules.moduleOf(HASH, code, "osaka"), undefined);
  assert.deepEqual(requests, [request]);
  await null;
  assert.equal(modules.moduleOf(HASH, code, "osaka"), MODULE);
  assert.equal(modules.has(HASH, "osaka"), true);
  assert.equal(modules.has(HASH, "prague"), false);
  assert.equal(modules.dropped, 0);
  modules.drop(key);
  assert.equal(modules.dropped, 1);
  assert.equal(modules.has(HASH, "osaka"), false);
  assert.equal(modules.moduleOf(HASH, code, "osaka"), undefined);
  assert.equal(requests.length, 2);
});
