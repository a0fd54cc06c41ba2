import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { ChunkedNodeCache, NODE_CACHE_BYTES_MIN } from "./node-cache.ts";

const hashOf = (n: number) => keccak256(Uint8Array.of(n >> 8, n & 255));
const nodeOf = (n: number) => new Uint8Array(100 + (n % 400)).fill(n & 255);

test("get finds the node that was set last, and what fits beside it", () => {
  const cache = new ChunkedNodeCache(NODE_CACHE_BYTES_MIN);
  for (let n = 0; n < 5_000; n++) {
    cache.set(hashOf(n), nodeOf(n));
    assert.deepEqual(cache.get(hashOf(n)), nodeOf(n));
  }
  let bytes = 0;
  for (let n = 0; n < 5_000; n++) {
    const found = cache.take(hashOf(n), 0);
    if (found === undefined) continue;
    assert.deepEqual(found, nodeOf(n));
    bytes += found.length + 32;
  }
  assert.ok(bytes < NODE_CACHE_BYTES_MIN);
  assert.ok(bytes > NODE_CACHE_BYTES_MIN / 4);
});

test("bytes never exceed the size and reach nearly all of it", () => {
  for (const size of [NODE_CACHE_BYTES_MIN, 3_000_000, 20 << 20]) {
    const cache = new ChunkedNodeCache(size);
    for (let n = 0; n < size / 100; n++) {
      cache.set(keccak256(Uint8Array.of(n >> 16, n >> 8, n)), nodeOf(n));
      if (n % 997 === 0) assert.ok(cache.bytes <= size);
    }
    assert.ok(cache.bytes <= size && cache.bytes > size * 0.9, `${cache.bytes} of ${size}`);
  }
});

test("add takes hash and RLP as they are in a batch", () => {
  const cache = new ChunkedNodeCache(NODE_CACHE_BYTES_MIN);
  for (let n = 0; n < 1_000; n++) {
    const entry = Buffer.concat([Uint8Array.of(1, 2, 3), hashOf(n), nodeOf(n), Uint8Array.of(9)]);
    cache.add(entry, 3, entry.length - 1);
    assert.deepEqual(cache.get(hashOf(n)), nodeOf(n));
  }
  const long = Buffer.concat([hashOf(1), new Uint8Array(4_096)]);
  cache.add(long, 0, long.length);
  assert.notEqual(cache.get(hashOf(1))?.length, 4_096);
});

test("a node that is used stays while others come and go", () => {
  const cache = new ChunkedNodeCache(NODE_CACHE_BYTES_MIN);
  cache.set(hashOf(0), nodeOf(0));
  for (let n = 1; n < 5_000; n++) {
    cache.set(hashOf(n), nodeOf(n));
    // Four newer nodes of its set may take its place; then it is set again, as after a read of the store.
    if (n % 8 === 0 && cache.get(hashOf(0)) === undefined) cache.set(hashOf(0), nodeOf(0));
  }
  assert.deepEqual(cache.get(hashOf(0)), nodeOf(0));
  assert.equal(cache.get(hashOf(1)), undefined);
});

test("nodes that are not taken outlast many that are", () => {
  const cache = new ChunkedNodeCache(1 << 20);
  const start = 10_000;
  const count = 500;
  for (let n = 0; n < count; n++) cache.set(hashOf(start + n), nodeOf(n));
  // Versions of one node, each in place of the one before: twenty times what the cache holds.
  for (let n = 1; n < 10_000; n++) {
    cache.add(Buffer.concat([keccak256(hashOf(n)), new Uint8Array(2_000)]), 0, 2_032);
    const old = cache.take(Buffer.concat([Uint8Array.of(1), keccak256(hashOf(n - 1))]), 1);
    assert.equal(old !== undefined, n > 1);
  }
  const left = Array.from({ length: count }, (_, n) => cache.take(hashOf(start + n), 0));
  assert.ok(left.filter((rlp) => rlp !== undefined).length > count * 0.9);
  for (const [n, rlp] of left.entries()) if (rlp !== undefined) assert.deepEqual(rlp, nodeOf(n));
});

test("get makes a node that was taken stay again", () => {
  for (const isWanted of [true, false]) {
    const cache = new ChunkedNodeCache(1 << 20);
    cache.set(hashOf(0), nodeOf(0));
    cache.take(hashOf(0), 0);
    if (isWanted) assert.deepEqual(cache.get(hashOf(0)), nodeOf(0));
    for (let n = 1; n < 2_000; n++) {
      cache.set(hashOf(n), new Uint8Array(1_000));
      cache.take(hashOf(n), 0);
    }
    assert.equal(cache.take(hashOf(0), 0) !== undefined, isWanted);
  }
});

test("a view stays what it was after its node has left the cache", () => {
  const cache = new ChunkedNodeCache(NODE_CACHE_BYTES_MIN);
  cache.set(hashOf(7), nodeOf(7));
  const view = cache.get(hashOf(7));
  for (let n = 100; n < 5_000; n++) cache.set(hashOf(n), nodeOf(n));
  assert.equal(cache.get(hashOf(7)), undefined);
  assert.deepEqual(view, nodeOf(7));
});

test("get tells hashes apart that differ in their last byte only", () => {
  const cache = new ChunkedNodeCache(NODE_CACHE_BYTES_MIN);
  const hash = hashOf(1);
  cache.set(hash, Uint8Array.of(1));
  assert.equal(cache.get(hash.with(31, hash[31]! ^ 1)), undefined);
});

test("a node too long for a chunk is not cached", () => {
  const cache = new ChunkedNodeCache(NODE_CACHE_BYTES_MIN);
  cache.set(hashOf(1), new Uint8Array(4_096));
  assert.equal(cache.get(hashOf(1)), undefined);
});

test("ChunkedNodeCache rejects a size that holds no node", () => {
  assert.throws(() => new ChunkedNodeCache(1_000), { name: "InvariantError" });
});
