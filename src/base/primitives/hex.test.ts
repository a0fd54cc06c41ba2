import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { bytesToHex, hexDigits, hexToBytes, isData } from "./hex.ts";

test("hexToBytes reads DATA: two digits a byte after 0x", () => {
  assert.deepEqual(hexToBytes("0x41"), Uint8Array.of(0x41));
  assert.deepEqual(hexToBytes("0x004200"), Uint8Array.of(0, 0x42, 0));
  assert.deepEqual(hexToBytes("0x"), new Uint8Array(0));
  assert.deepEqual(hexToBytes("0xaBcD"), Uint8Array.of(0xab, 0xcd));
});

for (const [text, reason] of [
  ["0xf0f0f", "hex string of odd length"],
  ["004200", "hex string without 0x prefix"],
  ["", "empty hex string"],
  ["0xzz", "invalid hex string"],
  ["0x4g", "invalid hex string"],
  ["0x41\n", "invalid hex string"],
] as const) {
  test(`hexToBytes rejects ${JSON.stringify(text)}`, () => {
    assert.throws(() => hexToBytes(text), { code: "INVALID_HEX", reason });
    assert.equal(isData(text), false);
  });
}

test("bytesToHex and hexToBytes are inverse, also for views into a larger buffer", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(5), (bytes, skip) => {
      const view = bytes.subarray(Math.min(skip, bytes.length));
      const text = bytesToHex(view);
      assert.ok(isData(text));
      assert.deepEqual(hexToBytes(text), Uint8Array.from(view));
      assert.equal(text, `0x${hexDigits(view)}`);
    }),
  );
});

test("hexToBytes answers any text with bytes or INVALID_HEX", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((s) => `0x${s}`),
      ),
      (text) => {
        if (isData(text)) assert.equal(hexToBytes(text).length, (text.length - 2) / 2);
        else assert.throws(() => hexToBytes(text), { code: "INVALID_HEX" });
      },
    ),
  );
});
