import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonObject, listOf, matching, members, object, optional, recordOf, text, whole } from "./shape.ts";

test("a shape names the place of the first fault", () => {
  const shape = object({ head: members({ number: whole, hash: matching(/^0x[0-9a-f]{2}$/) }), log: listOf(text, 2) });
  const good = { head: { number: 1, hash: "0xab" }, log: ["a"] };
  assert.equal(shape(good), undefined);
  for (const [value, place] of [
    [{ ...good, head: { number: -1, hash: "0xab" } }, ".head .number"],
    [{ ...good, head: { number: 1.5, hash: "0xab" } }, ".head .number"],
    [{ ...good, head: { number: 1, hash: "0xAB" } }, ".head .hash"],
    [{ ...good, head: { number: 1, hash: 171 } }, ".head .hash"],
    [{ ...good, log: ["a", 2] }, ".log [1]"],
    [{ ...good, log: { length: 0 } }, ".log"],
    [{ ...good, log: ["a", "b", "c"] }, ".log"],
    [{ ...good, more: 1 }, "has a member more"],
  ] as const) {
    assert.ok(shape(value)?.startsWith(place), JSON.stringify(value));
  }
});

test("members takes members that it does not know, and object takes none", () => {
  assert.equal(members({ a: optional(text) })({ b: 1 }), undefined);
  assert.notEqual(object({ a: optional(text) })({ b: 1 }), undefined);
});

test("shapes of objects take neither arrays, null nor objects of a class", () => {
  for (const value of [[], null, undefined, "a", new Map(), new Uint8Array(1)]) {
    for (const shape of [members({}), object({}), recordOf(text)]) assert.notEqual(shape(value), undefined);
  }
  const own = JSON.parse('{"__proto__":1}');
  assert.notEqual(recordOf(text)(own), undefined);
  assert.notEqual(object({})(own), undefined);
});

test("isJsonObject takes objects, and neither arrays nor null", () => {
  assert.deepEqual(
    [{}, [], null, undefined, "{}"].map((value) => isJsonObject(value)),
    [true, false, false, false, false],
  );
});
