import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import {
  bigintToBytes,
  bigintToFixedBytes,
  bytesToBigint,
  concatBytes,
  EMPTY_BYTES,
  equalBytes,
  leftPad,
  plainBytes,
  readBigint,
} from "./bytes.ts";
import { encodedText } from "./hex.ts";

const words = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });

test("bigintToBytes gives the shortest form, empty for 0", () => {
  assert.deepEqual(bigintToBytes(0n), EMPTY_BYTES);
  assert.deepEqual(bigintToBytes(127n), Uint8Array.of(127));
  assert.deepEqual(bigintToBytes(1024n), Uint8Array.of(4, 0));
  fc.assert(
    fc.property(words, (value) => {
      const bytes = bigintToBytes(value);
      assert.equal(bytesToBigint(bytes), value);
      assert.notEqual(bytes[0], 0);
    }),
  );
});

test("bigintToFixedBytes pads to the length asked for", () => {
  fc.assert(
    fc.property(words, (value) => {
      const bytes = bigintToFixedBytes(value, 32);
      assert.equal(bytes.length, 32);
      assert.equal(bytesToBigint(bytes), value);
      assert.deepEqual(leftPad(bigintToBytes(value), 32), bytes);
    }),
  );
});

test("bytesToBigint and bigintToBytes agree with the hex digits at every length", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const value = BigInt(`0x0${Buffer.from(bytes).toString("hex")}`);
      assert.equal(bytesToBigint(bytes), value);
      const significant = bytes.subarray(bytes.findIndex((byte) => byte !== 0));
      assert.deepEqual(bigintToBytes(value), value === 0n ? EMPTY_BYTES : significant);
    }),
    { numRuns: 1_000 },
  );
});

test("readBigint reads the bytes between two positions of a view, at every length", () => {
  for (let length = 0; length <= 33; length++) {
    const bytes = Uint8Array.from({ length: length + 5 }, (_, i) => 0xf0 + i).subarray(1);
    assert.equal(readBigint(bytes, 2, 2 + length), bytesToBigint(bytes.slice(2, 2 + length)));
  }
});

test("bytesToBigint reads a view into a larger buffer", () => {
  assert.equal(bytesToBigint(Uint8Array.of(9, 1, 0, 9).subarray(1, 3)), 256n);
});

test("concatBytes joins in order", () => {
  assert.deepEqual(concatBytes(), EMPTY_BYTES);
  assert.deepEqual(concatBytes(Uint8Array.of(1), EMPTY_BYTES, Uint8Array.of(2, 3)), Uint8Array.of(1, 2, 3));
});

test("equalBytes compares contents", () => {
  assert.ok(equalBytes(Uint8Array.of(1, 2), Uint8Array.of(0, 1, 2).subarray(1)));
  assert.ok(!equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 3)));
  assert.ok(!equalBytes(Uint8Array.of(1, 2), Uint8Array.of(1, 2, 3)));
});

test("leftPad does not change bytes that are long enough", () => {
  assert.deepEqual(leftPad(Uint8Array.of(1, 2, 3), 2), Uint8Array.of(1, 2, 3));
});

test("encodedText of latin1 gives each byte its letter, however many there are", () => {
  for (const length of [0, 1, 63, 64, 65, 300]) {
    const bytes = Uint8Array.from({ length: length + 3 }, (_, i) => i).subarray(3);
    assert.equal(encodedText(bytes, "latin1"), String.fromCharCode(...bytes));
  }
});

test("plainBytes is a view of a Buffer, and any other array itself", () => {
  const buffer = Buffer.from([1, 2, 3, 4]).subarray(1, 3);
  const plain = plainBytes(buffer);
  assert.deepEqual(plain, Uint8Array.of(2, 3));
  buffer[0] = 9;
  assert.equal(plain[0], 9);
  assert.equal(plainBytes(plain), plain);
});
