import assert from "node:assert/strict";
import { test } from "node:test";
import { signatureBytes } from "../../src/base/crypto/secp256k1.ts";
import { loadWasmBackend } from "../../src/base/crypto/secp256k1-wasm.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import * as node from "../../src/base/primitives/keccak.ts";
import * as nodePair from "../../src/base/primitives/keccak-pair-wasm.ts";
import { allAtOnce } from "../../src/base/threads/in-slices.ts";
import * as browser from "../../src/web/explorer/browser/keccak.ts";
import * as browserPair from "../../src/web/explorer/browser/keccak-pair.ts";
import { loadNativeBackend } from "../../src/web/explorer/browser/secp256k1.ts";
import fc from "../support/fast-check.ts";

test("keccak of the browser has every export of the node's, and the same digests", () => {
  assert.deepEqual(Object.keys(browser).sort(), Object.keys(node).sort());
  assert.ok(browser.keccakMessage.length >= node.keccakMessage.length);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), (data) => {
      assert.deepEqual(browser.keccak256(data), node.keccak256(data));
      assert.equal(browser.keccak256Hash(data), node.keccak256Hash(data));
      const hex = bytesToHex(data);
      assert.deepEqual(browser.keccak256OfHex(hex), node.keccak256OfHex(hex));
      const out = new Uint8Array(40);
      browser.keccakMessage.set(data);
      browser.keccak256Message(data.length, out, 3);
      assert.deepEqual(out.subarray(3, 35), node.keccak256(data));
      assert.deepEqual(allAtOnce(browser.keccak256InSteps(data)), node.keccak256(data));
    }),
  );
  const long = new Uint8Array(200_000).map((_, i) => i);
  assert.deepEqual(allAtOnce(browser.keccak256InSteps(long)), node.keccak256(long));
});

test("pairs of messages have the digests of the node's in the browser, where they are asked for", () => {
  assert.deepEqual(Object.keys(browserPair).sort(), Object.keys(nodePair).sort());
  const { bytes, hashPair } = browserPair.createKeccakPairModule(1);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 700 }), fc.uint8Array({ maxLength: 700 }), (first, second) => {
      const [a, b, out] = [32, 1_032, 2_000];
      bytes.set(first, a);
      bytes.set(second, b);
      hashPair(a, first.length, out, b, second.length, out + 32);
      const digests = [node.keccak256(first), node.keccak256(second)];
      assert.deepEqual([bytes.slice(a - 32, a), bytes.slice(b - 32, b)], digests);
      assert.deepEqual([bytes.slice(out, out + 32), bytes.slice(out + 32, out + 64)], digests);
    }),
  );
});

test("signatures are recovered in the browser as in the node, damaged ones too", () => {
  const [ours, theirs] = [loadNativeBackend(), loadWasmBackend()];
  const privateKey = new Uint8Array(32).fill(7);
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(255), (digest, bit) => {
      const { r, s, yParity } = theirs.sign(digest, privateKey);
      const both = [r, r ^ (1n << BigInt(bit))].map((each) => {
        return { digest, signature: signatureBytes(each, s), yParity };
      });
      assert.deepEqual(ours.recover(both), theirs.recover(both));
    }),
    { numRuns: 30 },
  );
});
