import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { keccak256 } from "./keccak.ts";
import { RATE } from "./keccak-emitter.ts";
import { createKeccakPairModule, PAIR_MESSAGES_OFFSET } from "./keccak-pair-wasm.ts";

const { bytes, hashPair } = createKeccakPairModule(1);
const FIRST = PAIR_MESSAGES_OFFSET + 32;
const SECOND = FIRST + 10_032;
const OUT = SECOND + 11_000;

/** Both digests, each from before its message and from where else it was written. */
function digests(first: Uint8Array, second: Uint8Array): Uint8Array[] {
  bytes.fill(0xaa, PAIR_MESSAGES_OFFSET);
  bytes.set(first, FIRST);
  bytes.set(second, SECOND);
  hashPair(FIRST, first.length, OUT, SECOND, second.length, OUT + 32);
  return [FIRST - 32, OUT, SECOND - 32, OUT + 32].map((at) => bytes.slice(at, at + 32));
}

function assertHashed(first: Uint8Array, second: Uint8Array): void {
  const [a, b] = [keccak256(first), keccak256(second)];
  assert.deepEqual(digests(first, second), [a, a, b, b]);
}

test("two messages with the same number of whole blocks are hashed together", () => {
  const pair = fc
    .tuple(fc.nat(20), fc.nat(RATE - 1), fc.nat(RATE - 1), fc.infiniteStream(fc.nat(255)))
    .map(([blocks, first, second, noise]) => {
      const make = (rest: number) => Uint8Array.from({ length: blocks * RATE + rest }, () => noise.next().value);
      return [make(first), make(second)] as const;
    });
  fc.assert(
    fc.property(pair, ([first, second]) => assertHashed(first, second)),
    { numRuns: 100 },
  );
});

test("the padding fits wherever a message ends in its block", () => {
  for (let length = 0; length < RATE; length++) {
    assertHashed(new Uint8Array(length).fill(length), new Uint8Array(RATE - 1 - length).fill(7));
  }
});

test("hashing a message does not change the bytes after it", () => {
  digests(new Uint8Array(100), new Uint8Array(3));
  assert.ok(bytes.subarray(FIRST + 100, SECOND - 32).every((byte) => byte === 0xaa));
});

test("a message can be both", () => {
  const message = new Uint8Array(500).fill(9);
  bytes.set(message, FIRST);
  hashPair(FIRST, message.length, OUT, FIRST, message.length, OUT);
  assert.deepEqual(bytes.slice(OUT, OUT + 32), keccak256(message));
});
