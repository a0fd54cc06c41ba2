import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { concatBytes } from "../primitives/bytes.ts";
import { hexDigits, hexToBytes } from "../primitives/hex.ts";
import { blake2f } from "./blake2f.ts";

/** The chaining state that BLAKE2b with a digest of 64 bytes and no key begins with: RFC 7693, section 2.5. */
const H = hexToBytes(
  "0x48c9bdf267e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d182e6ad7f520e511f6c3e2b8c68059b6bbd41fbabd9831f79217e1319cde05b",
);
const ABC = concatBytes(new TextEncoder().encode("abc"), new Uint8Array(125));
const THREE = concatBytes(Uint8Array.of(3), new Uint8Array(15));

test("blake2f gives the vectors of EIP-152", () => {
  const vectors = [
    [
      0,
      true,
      "08c9bcf367e6096a3ba7ca8485ae67bb2bf894fe72f36e3cf1361d5f3af54fa5d282e6ad7f520e511f6c3e2b8c68059b9442be0454267ce079217e1319cde05b",
    ],
    [
      12,
      true,
      "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923",
    ],
    [
      12,
      false,
      "75ab69d3190a562c51aef8d88f1c2775876944407270c42c9844252c26d2875298743e7f6d5ea2f2d3e8d226039cd31b4e426ac4f2d3d666a610c2116fde4735",
    ],
    [
      1,
      true,
      "b63a380cb2897d521994a85234ee2c181b5f844d2c624c002677e9703449d2fba551b3a8333bcdf5f2f7e08993d53923de3d64fcc68c034e717b9293fed7a421",
    ],
  ] as const;
  for (const [rounds, final, expected] of vectors) {
    assert.equal(hexDigits(blake2f(rounds, H, ABC, THREE, final)), expected);
  }
});

test("blake2f chained over blocks is BLAKE2b-512", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 700 }), (message) => {
      let h = H;
      for (let at = 0; at < message.length; at += 128) {
        const block = new Uint8Array(128);
        block.set(message.subarray(at, at + 128));
        const counter = new Uint8Array(16);
        const seen = Math.min(at + 128, message.length);
        new DataView(counter.buffer).setUint32(0, seen, true);
        h = blake2f(12, h, block, counter, seen === message.length);
      }
      assert.equal(hexDigits(h), createHash("blake2b512").update(message).digest("hex"));
    }),
  );
});

test("blake2f uses all of the counter", () => {
  fc.assert(
    fc.property(fc.nat({ max: 127 }), (bit) => {
      const counter = new Uint8Array(16);
      counter[bit >> 3] = 1 << (bit & 7);
      const output = blake2f(3, H, ABC, counter, false);
      assert.notDeepEqual(output, blake2f(3, H, ABC, new Uint8Array(16), false));
    }),
  );
});
