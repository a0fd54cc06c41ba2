import assert from "node:assert/strict";
import { test } from "node:test";
import { secp256k1 as noble } from "@noble/curves/secp256k1.js";
import fc from "../../../test/support/fast-check.ts";
import { bigintToFixedBytes, bytesToBigint, leftPad } from "../primitives/bytes.ts";
import { hexToBytes } from "../primitives/hex.ts";
import {
  addressFromPrivateKey,
  addressFromPublicKey,
  createSecp256k1,
  isPrivateKey,
  SECP256K1_HALF_ORDER,
  SECP256K1_ORDER,
  secp256k1,
} from "./secp256k1.ts";
import { loadNativeBackend } from "./secp256k1-native.ts";
import { loadWasmBackend } from "./secp256k1-wasm.ts";

const native = loadNativeBackend();
const curves = [createSecp256k1(loadWasmBackend())];
if (native) curves.push(createSecp256k1(native));

const digests = fc.uint8Array({ minLength: 32, maxLength: 32 });
const privateKeys = fc.bigInt({ min: 1n, max: SECP256K1_ORDER - 1n }).map((scalar) => bigintToFixedBytes(scalar, 32));

test("secp256k1 uses the native addon exactly when it loads", () => {
  assert.equal(secp256k1.backend, native ? "native" : "wasm");
});

for (const curve of curves) {
  test(`${curve.backend}: sign and recover agree with an independent implementation`, () => {
    fc.assert(
      fc.property(digests, privateKeys, (digest, privateKey) => {
        const { r, s, yParity } = curve.sign(digest, privateKey);
        const oracle = noble.Signature.fromBytes(
          noble.sign(digest, privateKey, { prehash: false, format: "recovered" }),
          "recovered",
        );
        assert.deepEqual({ r, s, yParity }, { r: oracle.r, s: oracle.s, yParity: oracle.recovery });
        assert.ok(s <= SECP256K1_HALF_ORDER);
        const publicKey = noble.getPublicKey(privateKey, false).subarray(1);
        assert.deepEqual(curve.publicKeyFromPrivate(privateKey), publicKey);
        assert.deepEqual(curve.recoverPublicKey(digest, r, s, yParity), publicKey);
        assert.equal(curve.recoverAddress(digest, r, s, yParity), addressFromPublicKey(publicKey));
        // The mirrored signature has a high s and recovers to the same key: rejecting it is the caller's rule.
        const mirrored = curve.recoverPublicKey(digest, r, SECP256K1_ORDER - s, (1 - yParity) as 0 | 1);
        assert.deepEqual(mirrored, publicKey);
      }),
      { numRuns: 25 },
    );
  });

  test(`${curve.backend}: random signatures recover to what an independent implementation says`, () => {
    const words = digests.map(bytesToBigint);
    fc.assert(
      fc.property(digests, words, words, fc.constantFrom(0 as const, 1 as const), (digest, r, s, bit) => {
        let expected: Uint8Array | undefined;
        try {
          expected = new noble.Signature(r, s).addRecoveryBit(bit).recoverPublicKey(digest).toBytes(false).subarray(1);
        } catch {
          expected = undefined;
        }
        assert.deepEqual(curve.recoverPublicKey(digest, r, s, bit), expected);
      }),
      { numRuns: 40 },
    );
  });

  test(`${curve.backend}: r and s outside [1, n − 1] recover to nothing`, () => {
    const digest = new Uint8Array(32).fill(7);
    for (const bad of [0n, SECP256K1_ORDER, SECP256K1_ORDER + 1n, 2n ** 256n - 1n]) {
      assert.equal(curve.recoverAddress(digest, bad, 1n, 0), undefined);
      assert.equal(curve.recoverAddress(digest, 1n, bad, 0), undefined);
    }
    // No point of the curve has x = 5.
    assert.equal(curve.recoverAddress(digest, 5n, 1n, 0), undefined);
  });

  test(`${curve.backend}: sign rejects what is no private key`, () => {
    const digest = new Uint8Array(32);
    for (const key of [
      new Uint8Array(32),
      new Uint8Array(31).fill(1),
      new Uint8Array(33).fill(1),
      bigintToFixedBytes(SECP256K1_ORDER, 32),
    ]) {
      assert.equal(isPrivateKey(key), false);
      assert.throws(() => curve.sign(digest, key), { code: "INVALID_PRIVATE_KEY" });
      assert.throws(() => curve.publicKeyFromPrivate(key), { code: "INVALID_PRIVATE_KEY" });
    }
  });
}

test("addressFromPrivateKey gives the well-known address of the key 1", () => {
  const key = leftPad(hexToBytes("0x01"), 32);
  assert.equal(addressFromPrivateKey(key), "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf");
});
