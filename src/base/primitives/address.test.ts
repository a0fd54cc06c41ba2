import assert from "node:assert/strict";
import { test } from "node:test";
import { addressFromBytes, addressToBytes, checksumAddress, parseAddress, ZERO_ADDRESS } from "./address.ts";
import { hashFromBigint, hashFromBytes, hashToBytes, parseHash, ZERO_HASH } from "./hash.ts";

// Examples of EIP-55.
const CHECKSUMMED = [
  "0x52908400098527886E0F7030069857D2E4169EE7",
  "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  "0xde709f2102306220921060314715629080e2fb77",
  "0x27b1fdb04752bbc536007a920d24acb045561c26",
  "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
  "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
  "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
  "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
];

test("checksumAddress gives the mixed-case form of EIP-55", () => {
  for (const text of CHECKSUMMED) {
    const address = parseAddress(text);
    assert.equal(address, text.toLowerCase());
    assert.equal(checksumAddress(address), text);
  }
});

test("parseAddress takes any letter case and exactly 20 bytes", () => {
  assert.equal(parseAddress(`0x${"AB".repeat(20)}`), `0x${"ab".repeat(20)}`);
  for (const [text, reason] of [
    ["0x1234", "hex string has length 4, want 40 for common.Address"],
    [`0x${"00".repeat(21)}`, "hex string has length 42, want 40 for common.Address"],
    [`0x${"0".repeat(39)}`, "hex string of odd length"],
    ["00".repeat(20), "hex string without 0x prefix"],
    [`0x${"zz".repeat(20)}`, "invalid hex string"],
  ]) {
    assert.throws(() => parseAddress(text!), { code: "INVALID_HEX", reason });
  }
});

test("addressFromBytes rejects another length than 20", () => {
  assert.deepEqual(addressFromBytes(addressToBytes(ZERO_ADDRESS)), ZERO_ADDRESS);
  assert.throws(() => addressFromBytes(new Uint8Array(19)), { code: "INVALID_HEX" });
});

test("parseHash takes exactly 32 bytes", () => {
  assert.equal(parseHash(`0x${"AB".repeat(32)}`), `0x${"ab".repeat(32)}`);
  assert.throws(() => parseHash("0x00"), {
    code: "INVALID_HEX",
    reason: "hex string has length 2, want 64 for common.Hash",
  });
  assert.deepEqual(hashFromBytes(hashToBytes(ZERO_HASH)), ZERO_HASH);
  assert.throws(() => hashFromBytes(new Uint8Array(31)), { code: "INVALID_HEX" });
  assert.equal(hashFromBigint(1n), `0x${"00".repeat(31)}01`);
});
