import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "fast-check";
import { EMPTY_BYTES } from "./bytes.ts";
import { keccak256, keccak256Hash } from "./keccak.ts";

test("keccak256 agrees with an independent implementation at every length around the block size", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), (data) => {
      assert.deepEqual(keccak256(data), keccak_256(data));
    }),
  );
});

test("keccak256Hash of nothing is the hash of empty code", () => {
  assert.equal(
    keccak256Hash(EMPTY_BYTES),
    "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470",
  );
});
