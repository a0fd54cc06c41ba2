import assert from "node:assert/strict";
import { test } from "node:test";
import { string } from "../transport/codec.ts";
import { createRegistry, defineMethod } from "../transport/dispatch/method.ts";
import { DEV_METHODS } from "./dev/methods.ts";
import { WALLET_METHODS } from "./dev/wallet.ts";
import { createMethodRegistry, METHODS } from "./methods.ts";

test("every method has a name of its own; a dev chain's takes the place of an ordinary one", () => {
  const replaced = METHODS.filter(({ name }) => DEV_METHODS.some((method) => method.name === name));
  assert.deepEqual(replaced.map(({ name }) => name).sort(), ["miner_start", "miner_stop"]);
  const registry = createMethodRegistry({ dev: true });
  assert.equal(registry.size, METHODS.length + DEV_METHODS.length - replaced.length);
  for (const method of DEV_METHODS) assert.equal(registry.get(method.name), method);
});

test("the methods of dev chains are on dev chains only", () => {
  assert.equal(createMethodRegistry({ dev: false }).size, METHODS.length);
  const wallet = new Set(WALLET_METHODS.map(({ name }) => name));
  assert.ok(DEV_METHODS.every(({ name, isPrivate }) => isPrivate || wallet.has(name)));
});

test("two methods of one name, or one without namespace, stop the start", () => {
  const named = (name: string) => defineMethod({ name, params: {}, result: string, handle: () => "" });
  assert.throws(() => createRegistry([named("a_b"), named("a_b")]));
  assert.throws(() => createRegistry([named("ab")]));
});
