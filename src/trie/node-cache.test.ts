import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256 } from "../primitives/keccak.ts";
import { createNodeCache } from "./node-cache.ts";

const hashOf = (n: number) => keccak256(Uint8Array.of(n >> 8, n & 255));

test("get finds what was set, as long as no more than four hashes share a set", () => {
  const cache = createNodeCache(4);
  for (let n = 0; n < 4; n++) cache.set(hashOf(n), Uint8Array.of(n));
  for (let n = 0; n < 4; n++) assert.deepEqual(cache.get(hashOf(n)), Uint8Array.of(n));
  assert.equal(cache.get(hashOf(4)), undefined);
});

test("set drops the node that was not used for the longest time", () => {
  const cache = createNodeCache(4);
  for (let n = 0; n < 4; n++) cache.set(hashOf(n), Uint8Array.of(n));
  cache.get(hashOf(0));
  cache.set(hashOf(4), Uint8Array.of(4));
  const left = [0, 1, 2, 3, 4].filter((n) => cache.get(hashOf(n)) !== undefined);
  assert.deepEqual(left, [0, 2, 3, 4]);
});

test("set of a hash already there takes no second place", () => {
  const cache = createNodeCache(4);
  for (let n = 0; n < 4; n++) cache.set(hashOf(n), Uint8Array.of(n));
  for (let i = 0; i < 4; i++) cache.set(hashOf(2), Uint8Array.of(9));
  for (const n of [0, 1, 3]) assert.deepEqual(cache.get(hashOf(n)), Uint8Array.of(n));
  assert.deepEqual(cache.get(hashOf(2)), Uint8Array.of(9));
});

test("get tells hashes apart that differ in their last byte only", () => {
  const cache = createNodeCache(64);
  const hash = hashOf(1);
  cache.set(hash, Uint8Array.of(1));
  assert.equal(cache.get(hash.with(31, hash[31]! ^ 1)), undefined);
});

test("a cache holds no more than its size", () => {
  const cache = createNodeCache(64);
  for (let n = 0; n < 1000; n++) cache.set(hashOf(n), Uint8Array.of(1));
  const found = Array.from({ length: 1000 }, (_, n) => cache.get(hashOf(n))).filter(Boolean);
  assert.equal(found.length, 64);
});

test("createNodeCache refuses a size that is no power of two", () => {
  for (const size of [0, 2, 100]) {
    assert.throws(() => createNodeCache(size), { name: "InvariantError" });
  }
});
