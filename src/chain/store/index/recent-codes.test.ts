import assert from "node:assert/strict";
import { test } from "node:test";
import { hashFromBigint } from "../../../primitives/hash.ts";
import { RecentCodes } from "./recent-codes.ts";

const hashOf = (n: number) => hashFromBigint(BigInt(n));

test("codes take no more bytes than their limit, and those read last stay", () => {
  const codes = new RecentCodes(1_000);
  for (let n = 0; n < 100; n++) {
    codes.add(hashOf(n), new Uint8Array(1 + ((n * 37) % 300)).fill(n));
    assert.equal(codes.get(hashOf(0))?.length, 1);
    assert.ok(codes.bytes <= 1_000);
  }
  let bytes = 0;
  for (let n = 0; n < 100; n++) bytes += codes.get(hashOf(n))?.length ?? 0;
  assert.equal(bytes, codes.bytes);
  assert.ok(bytes > 700);
  assert.equal(codes.get(hashOf(1)), undefined);
});

test("a code larger than the limit is not stored and removes no other", () => {
  const codes = new RecentCodes(100);
  codes.add(hashOf(1), new Uint8Array(60));
  codes.add(hashOf(2), new Uint8Array(101));
  assert.equal(codes.get(hashOf(2)), undefined);
  assert.equal(codes.get(hashOf(1))?.length, 60);
});
