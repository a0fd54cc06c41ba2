import assert from "node:assert/strict";
import { test } from "node:test";
import { createAccessPolicy } from "./access.ts";

const METHODS = ["eth_call", "eth_sign", "eth_signTransaction", "debug_setHead", "personal_sign"];

function served(allow: readonly string[], deny: readonly string[]): string[] {
  const { deniedMethods } = createAccessPolicy({ namespaces: ["eth"], methods: { allow, deny } }, METHODS);
  return METHODS.filter((name) => !deniedMethods?.has(name));
}

test("createAccessPolicy serves what is allowed and not denied", () => {
  assert.deepEqual(served(["*"], []), METHODS);
  assert.deepEqual(served([], []), []);
  assert.deepEqual(served(["eth_*"], ["*_sign*"]), ["eth_call"]);
  assert.deepEqual(served(["*"], ["debug_*", "personal_*", "eth_sign"]), ["eth_call", "eth_signTransaction"]);
});

test("createAccessPolicy takes every character but the star for itself", () => {
  assert.deepEqual(served(["eth.call", "eth_cal", "ETH_CALL", "eth_call.", "(eth_call)"], []), []);
});

test("createAccessPolicy is closed unless told otherwise", () => {
  assert.equal(createAccessPolicy({ namespaces: [] }, METHODS).isOpen, false);
});
