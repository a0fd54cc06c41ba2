import assert from "node:assert/strict";
import { test } from "node:test";
import { keccak_256 } from "@noble/hashes/sha3.js";
import fc from "../../../test/support/fast-check.ts";
import { bytesToHex } from "./hex.ts";
import {
  keccak256,
  keccak256Hash,
  keccak256InSteps,
  keccak256Message,
  keccak256OfHex,
  keccakMessage,
} from "./keccak.ts";

/** Bytes that follow from `seed`, and look like chance. */
function noise(length: number, seed: number): Uint8Array {
  const data = new Uint8Array(length);
  let state = seed + 1;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    data[i] = state >>> 24;
  }
  return data;
}

const assertSame = (data: Uint8Array) => assert.equal(bytesToHex(keccak256(data)), bytesToHex(keccak_256(data)));

test("keccak256InSteps gives the same hash, whatever is hashed between its steps", () => {
  const size = keccakMessage.length;
  for (const length of [0, 1, size - 1, size, size + 1, 2 * size, 5 * size + 135]) {
    const data = noise(length, length);
    const steps = keccak256InSteps(data);
    let step = steps.next();
    for (; !step.done; step = steps.next()) assertSame(noise(200, length));
    assert.deepEqual(step.value, keccak_256(data));
  }
});

test("keccak256 gives the known hash of nothing", () => {
  const expected = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470";
  assert.equal(bytesToHex(keccak256(new Uint8Array(0))), expected);
  assert.equal(keccak256Hash(new Uint8Array(0)), expected);
});

test("keccak256 agrees with noble on every length from 0 to 300", () => {
  for (let length = 0; length <= 300; length++) assertSame(noise(length, length));
});

test("keccak256 agrees with noble on longer messages", () => {
  fc.assert(
    fc.property(fc.nat(20_000), fc.nat(), (length, seed) => assertSame(noise(length, seed))),
    { numRuns: 60 },
  );
});

test("keccak256 agrees with noble on messages longer than its memory, and around its size", () => {
  const size = keccakMessage.length;
  for (const length of [size - 1, size, size + 1, 2 * size, 2 * size + 135, 3_000_017]) {
    assertSame(noise(length, length));
  }
  assertSame(noise(5, 0));
});

test("keccak256 returns a new array each time, not a Buffer", () => {
  const first = keccak256(noise(3, 1));
  const copy = first.slice();
  keccak256(noise(3, 2));
  assert.deepEqual(first, copy);
  assert.equal(first.constructor, Uint8Array);
  assert.equal(first.buffer.byteLength, 32);
});

test("keccak256OfHex hashes the bytes that the digits encode", () => {
  const address = noise(20, 7);
  assert.deepEqual(keccak256OfHex(bytesToHex(address)), keccak256(address));
  assert.deepEqual(keccak256OfHex("0x"), keccak256(new Uint8Array(0)));
});

test("keccak256Message hashes in place the content of keccakMessage", () => {
  for (const length of [0, 1, 32, 135, 136, 137, 532, keccakMessage.length]) {
    const data = noise(length, length);
    keccakMessage.fill(0xff);
    keccakMessage.set(data);
    const out = new Uint8Array(40);
    keccak256Message(length, out, 5);
    assert.deepEqual(out.slice(5, 37), keccak_256(data));
    assert.deepEqual([...out.slice(0, 5), ...out.slice(37)], new Array(8).fill(0));
  }
});
