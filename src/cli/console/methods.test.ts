import assert from "node:assert/strict";
import { test } from "node:test";
import { describeSchema, fromJsonValue, toJsonValue } from "./methods.ts";

const QUANTITY = { title: "QUANTITY", type: "string" };
const OPTIONAL_QUANTITY = { oneOf: [QUANTITY, { type: "null" }] };

test("numbers become a QUANTITY where the method takes one", () => {
  assert.equal(toJsonValue(255n), "0xff");
  assert.equal(toJsonValue(255n, { type: "integer" }), 255);
  assert.equal(toJsonValue(255, OPTIONAL_QUANTITY), "0xff");
  assert.equal(toJsonValue(255, { type: "integer" }), 255);
  assert.equal(toJsonValue(255, { oneOf: [{ type: "integer" }, QUANTITY] }), 255);
  assert.equal(toJsonValue(255), 255);
});

test("members and items follow their own schema, and bytes become DATA", () => {
  const schema = {
    type: "object",
    properties: { value: QUANTITY, count: { type: "integer" } },
  };
  const value = { value: 1, count: 2, data: new Uint8Array([1, 0xab]), to: null };
  assert.deepEqual(toJsonValue(value, schema), {
    value: "0x1",
    count: 2,
    data: "0x01ab",
    to: null,
  });
  assert.deepEqual(toJsonValue([1, 2n], { type: "array", items: QUANTITY }), ["0x1", "0x2"]);
});

test("a QUANTITY of an answer is a bigint, everything else stays", () => {
  assert.equal(fromJsonValue("0x10", OPTIONAL_QUANTITY), 16n);
  assert.equal(fromJsonValue(null, OPTIONAL_QUANTITY), null);
  assert.equal(fromJsonValue("0x10", { title: "DATA", type: "string" }), "0x10");
});

test("a schema is described by its title, its alternatives or its kind", () => {
  assert.equal(describeSchema({ oneOf: [QUANTITY, { type: "integer" }] }), "QUANTITY | integer");
  assert.equal(describeSchema({ type: "array", items: { title: "address" } }), "[address]");
  assert.equal(describeSchema({}), "any");
});
