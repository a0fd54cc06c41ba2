import assert from "node:assert/strict";
import { test } from "node:test";
import { bigintToFixedBytes, concatBytes } from "../../../base/primitives/bytes.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { revertText } from "./call-errors.ts";

const word = (value: bigint) => bigintToFixedBytes(value, 32);
const errorSelector = hexToBytes("0x08c379a0");
const panicSelector = hexToBytes("0x4e487b71");

test("revertText decodes Error(string)", () => {
  const text = new TextEncoder().encode("no ether");
  const data = concatBytes(errorSelector, word(32n), word(8n), text, new Uint8Array(24));
  assert.equal(revertText(data), "execution reverted: no ether");
});

test("revertText names a panic", () => {
  assert.equal(
    revertText(concatBytes(panicSelector, word(0x11n))),
    "execution reverted: arithmetic underflow or overflow",
  );
  assert.equal(revertText(concatBytes(panicSelector, word(0x99n))), "execution reverted: unknown panic code: 0x99");
});

test("revertText is bare when the data says nothing readable", () => {
  const bare = [
    new Uint8Array(0),
    hexToBytes("0x08c379"),
    hexToBytes("0x12345678"),
    concatBytes(errorSelector, word(32n)),
    concatBytes(errorSelector, word(32n), word(33n), word(0n)),
    concatBytes(errorSelector, word(2n ** 255n), word(1n)),
    concatBytes(panicSelector, new Uint8Array(31)),
  ];
  for (const data of bare) assert.equal(revertText(data), "execution reverted");
});
