import assert from "node:assert/strict";
import { test } from "node:test";
import { keyHash } from "./key-hash.ts";

test("keys that differ in few bits fill the positions of a table evenly", () => {
  for (const length of [2, 20, 52]) {
    const count = length === 2 ? 2 ** 14 : 2 ** 16;
    for (const offset of [0, length - 2]) {
      const counts = new Uint32Array(count / 16);
      for (let i = 0; i < count; i++) {
        const key = new Uint8Array(length);
        key[offset] = i & 255;
        key[offset + 1] = i >> 8;
        counts[keyHash(key, 0, length) & (counts.length - 1)]!++;
      }
      // 16 in the mean, with a standard deviation of 4.
      assert.ok(Math.max(...counts) < 60, `${length} ${offset} ${Math.max(...counts)}`);
    }
  }
});

test("a hash depends on the key, not on its offset", () => {
  const bytes = Uint8Array.from({ length: 200 }, (_, i) => i * 7);
  for (let length = 0; length <= 60; length++) {
    const key = bytes.slice(31, 31 + length);
    assert.equal(keyHash(bytes, 31, length), keyHash(key, 0, length));
  }
});
