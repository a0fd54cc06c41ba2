import assert from "node:assert/strict";
import { test } from "node:test";
import { nextSlotNumber } from "./slot-number.ts";

test("nextSlotNumber is one after the parent's, the block's number after a parent without one, and stays within 64 bits", () => {
  assert.equal(nextSlotNumber({ number: 35 }), 36n);
  assert.equal(nextSlotNumber({ number: 35, slotNumber: 0n }), 1n);
  assert.equal(nextSlotNumber({ number: 0, slotNumber: 7n }), 8n);
  assert.equal(nextSlotNumber({ number: 0, slotNumber: 2n ** 64n - 1n }), 0n);
});
