import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import fc from "../../../test/support/fast-check.ts";
import { concatBytes } from "../primitives/bytes.ts";
import { addressOfCompressedKey, compressPublicKey } from "./compressed-public-key.ts";
import { addressFromPublicKey } from "./secp256k1.ts";

test("a compressed key has the same address as the key", () => {
  const secret = fc.bigInt(1n, secp256k1.Point.Fn.ORDER - 1n);
  fc.assert(
    fc.property(secret, (scalar) => {
      const publicKey = secp256k1.Point.BASE.multiply(scalar).toBytes(false).subarray(1);
      const compressed = compressPublicKey(publicKey);
      assert.equal(addressOfCompressedKey(compressed), addressFromPublicKey(publicKey));
    }),
    { numRuns: 50 },
  );
});

test("bytes are a compressed key where @noble/curves reads a point", () => {
  const prefix = fc.constantFrom(0, 2, 3, 4);
  const x = fc.oneof(
    fc.uint8Array({ minLength: 31, maxLength: 33 }),
    fc.constant(new Uint8Array(32).fill(0xff)),
    fc.constant(new Uint8Array(32)),
  );
  fc.assert(
    fc.property(prefix, x, (first, rest) => {
      const bytes = concatBytes(Uint8Array.of(first), rest);
      assert.equal(addressOfCompressedKey(bytes) !== undefined, isPoint(bytes));
    }),
  );
});

function isPoint(bytes: Uint8Array): boolean {
  try {
    secp256k1.Point.fromBytes(bytes);
    return bytes.length === 33;
  } catch {
    return false;
  }
}
