import assert from "node:assert/strict";
import { test } from "node:test";
import { allocateShared, copyShared } from "./slab.ts";

test("allocateShared gives arrays that do not overlap", () => {
  const arrays = Array.from({ length: 500 }, (_, n) => allocateShared((n * 37) % 1000).fill(n));
  for (const [n, bytes] of arrays.entries()) {
    assert.equal(bytes.length, (n * 37) % 1000);
    assert.ok(bytes.every((byte) => byte === (n & 255)));
  }
});

test("allocateShared gives a long array a separate buffer", () => {
  const bytes = allocateShared(100_000);
  assert.equal(bytes.buffer.byteLength, 100_000);
});

test("copyShared copies the part asked for", () => {
  const bytes = Uint8Array.from({ length: 300 }, (_, n) => n);
  for (const [start, end] of [
    [0, 0],
    [3, 20],
    [0, 300],
    [7, 299],
  ] as const) {
    assert.deepEqual(copyShared(bytes, start, end), bytes.slice(start, end));
  }
});
