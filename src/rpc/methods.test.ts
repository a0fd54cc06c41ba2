import assert from "node:assert/strict";
import { test } from "node:test";
import { createRegistry, defineMethod } from "./dispatch/method.ts";
import { createMethodRegistry, METHODS } from "./methods.ts";
import { string } from "./params/codec.ts";

test("every method has a name of its own", () => {
  assert.equal(createMethodRegistry().size, METHODS.length);
});

test("two methods of one name, or one without namespace, stop the start", () => {
  const named = (name: string) =>
    defineMethod({ name, params: {}, result: string, handle: () => "" });
  assert.throws(() => createRegistry([named("a_b"), named("a_b")]));
  assert.throws(() => createRegistry([named("ab")]));
});
