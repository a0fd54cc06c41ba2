import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { bob, contract } from "../../../../test/support/evm/execution/factories.ts";
import { bigintToFixedBytes, concatBytes, EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import { bytesToHex } from "../../../base/primitives/hex.ts";
import { EMPTY_REQUESTS_HASH } from "../../../base/types/constants.ts";
import { depositsOf, requestList, requestsHash } from "./system-calls.ts";

const topics = ["0x649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5" as Hash];
const word = (value: number) => bigintToFixedBytes(BigInt(value), 32);
const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte);

/** ABI encoding of the event's five byte strings. */
const event = concatBytes(
  ...[160, 256, 320, 384, 512].map(word),
  ...[word(48), filled(48, 1), filled(16, 0)],
  ...[word(32), filled(32, 2)],
  ...[word(8), filled(8, 3), filled(24, 0)],
  ...[word(96), filled(96, 4)],
  ...[word(8), filled(8, 5), filled(24, 0)],
);
const receipt = (data: Uint8Array, address = contract) => ({ logs: [{ address, topics, data }] });

test("depositsOf takes the five fields out of the deposit event (EIP-6110)", () => {
  const want = concatBytes(filled(48, 1), filled(32, 2), filled(8, 3), filled(96, 4), filled(8, 5));
  assert.deepEqual(depositsOf([receipt(event)], contract), want);
  assert.deepEqual(depositsOf([receipt(event), receipt(event)], contract), concatBytes(want, want));
});

test("depositsOf looks at no other contract and no other event", () => {
  assert.deepEqual(depositsOf([receipt(event, bob)], contract), EMPTY_BYTES);
  assert.deepEqual(depositsOf([{ logs: [{ address: contract, topics: [], data: event }] }], contract), EMPTY_BYTES);
  assert.deepEqual(depositsOf([receipt(event)], undefined), EMPTY_BYTES);
});

test("depositsOf rejects an event of another shape", () => {
  assert.throws(() => depositsOf([receipt(event.subarray(1))], contract), {
    code: "BLOCK_INVALID_DEPOSIT_EVENT_LAYOUT",
    message: "deposit wrong length: want 576, have 575",
  });
  const shifted = event.slice();
  shifted[31] = 161;
  assert.throws(() => depositsOf([receipt(shifted)], contract), {
    code: "BLOCK_INVALID_DEPOSIT_EVENT_LAYOUT",
  });
});

test("requestList leaves out empty requests and puts the type in front (EIP-7685)", () => {
  const others = [
    { type: 1, data: Uint8Array.of(7) },
    { type: 2, data: EMPTY_BYTES },
  ];
  assert.deepEqual(requestList(EMPTY_BYTES, others), [Uint8Array.of(1, 7)]);
});

test("requestsHash is the hash of the hashes", () => {
  assert.equal(requestsHash([]), EMPTY_REQUESTS_HASH);
  const inner = createHash("sha256").update(Uint8Array.of(1, 7)).digest();
  const want = bytesToHex(createHash("sha256").update(inner).digest());
  assert.equal(requestsHash([Uint8Array.of(1, 7)]), want);
});
