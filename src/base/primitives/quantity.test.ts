import assert from "node:assert/strict";
import { test } from "node:test";
import { toQuantity } from "./quantity.ts";

test("toQuantity has no leading zeros, and zero is 0x0", () => {
  assert.equal(toQuantity(0), "0x0");
  assert.equal(toQuantity(1024), "0x400");
  assert.equal(toQuantity(2n ** 256n - 1n), `0x${"f".repeat(64)}`);
});
