import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isQuantity, parseQuantity, toQuantity } from "./quantity.ts";

test("parseQuantity reads the most compact hex form", () => {
  assert.equal(parseQuantity("0x41"), 65n);
  assert.equal(parseQuantity("0x400"), 1024n);
  assert.equal(parseQuantity("0x0"), 0n);
  assert.equal(parseQuantity(`0x${"f".repeat(64)}`), 2n ** 256n - 1n);
  assert.equal(parseQuantity("0xffffffffffffffff", 64), 2n ** 64n - 1n);
});

for (const [text, reason] of [
  ["0x", 'hex string "0x"'],
  ["0x0400", "hex number with leading zero digits"],
  ["0x00", "hex number with leading zero digits"],
  ["ff", "hex string without 0x prefix"],
  ["", "empty hex string"],
  ["0xg", "invalid hex string"],
  ["0x-1", "invalid hex string"],
  [`0x1${"0".repeat(64)}`, "hex number > 256 bits"],
] as const) {
  test(`parseQuantity refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => parseQuantity(text), { code: "INVALID_HEX", reason });
  });
}

test("parseQuantity refuses what does not fit its bits", () => {
  assert.throws(() => parseQuantity("0x10000000000000000", 64), {
    code: "INVALID_HEX",
    reason: "hex number > 64 bits",
  });
});

test("toQuantity and parseQuantity are inverse", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), (value) => {
      assert.ok(isQuantity(toQuantity(value)));
      assert.equal(parseQuantity(toQuantity(value)), value);
    }),
  );
  assert.equal(toQuantity(0), "0x0");
  assert.equal(toQuantity(1024), "0x400");
});
