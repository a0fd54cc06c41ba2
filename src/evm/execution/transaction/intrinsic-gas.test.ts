import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { intrinsicGas } from "./message.ts";

const from = `0x${"22".repeat(20)}` as Address;
const to = `0x${"11".repeat(20)}` as Address;

test("intrinsicGas of a plain transfer is 21000 in every fork", () => {
  assert.deepEqual(intrinsicGas({ to, value: 0n, data: EMPTY_BYTES }, from, "frontier"), {
    intrinsic: 21_000n,
    floor: 0n,
  });
  assert.deepEqual(intrinsicGas({ to, value: 0n, data: EMPTY_BYTES }, from, "osaka"), {
    intrinsic: 21_000n,
    floor: 21_000n,
  });
});

test("intrinsicGas prices calldata by fork (EIP-2028, EIP-7623)", () => {
  const data = Uint8Array.of(0, 1, 2, 0);
  assert.equal(intrinsicGas({ to, value: 0n, data }, from, "petersburg").intrinsic, 21_000n + 8n + 136n);
  assert.equal(intrinsicGas({ to, value: 0n, data }, from, "istanbul").intrinsic, 21_000n + 8n + 32n);
  assert.equal(intrinsicGas({ to, value: 0n, data }, from, "prague").floor, 21_000n + 10n * (2n + 8n));
});

test("intrinsicGas of a creation grows with Homestead and Shanghai (EIP-2, EIP-3860)", () => {
  const data = new Uint8Array(33);
  const creation = { to: null, value: 0n, data };
  assert.equal(intrinsicGas(creation, from, "frontier").intrinsic, 21_000n + 132n);
  assert.equal(intrinsicGas(creation, from, "homestead").intrinsic, 53_000n + 132n);
  assert.equal(intrinsicGas(creation, from, "shanghai").intrinsic, 53_000n + 132n + 4n);
});

test("intrinsicGas counts access list entries and authorizations (EIP-2930, EIP-7702)", () => {
  const accessList = [
    { address: to, storageKeys: [ZERO_HASH, ZERO_HASH] },
    { address: to, storageKeys: [] },
  ];
  const authorization = { chainId: 1n, address: to, nonce: 0n, yParity: 0n, r: 1n, s: 1n };
  const tx = { to, value: 0n, data: EMPTY_BYTES, accessList, authorizationList: [authorization] };
  assert.equal(intrinsicGas(tx, from, "osaka").intrinsic, 21_000n + 2n * 2_400n + 2n * 1_900n + 25_000n);
});

test("intrinsicGas counts the resources of a transaction from Amsterdam on (EIP-2780, 7976, 7981, 8038)", () => {
  const gasOf = (tx: Partial<Parameters<typeof intrinsicGas>[0]>) =>
    intrinsicGas({ to, value: 0n, data: EMPTY_BYTES, ...tx }, from, "amsterdam");
  assert.deepEqual(gasOf({ to: from, value: 1n }), { intrinsic: 12_000n, floor: 12_000n });
  assert.deepEqual(gasOf({}), { intrinsic: 15_000n, floor: 15_000n });
  assert.deepEqual(gasOf({ value: 1n }), { intrinsic: 21_000n, floor: 21_000n });
  assert.deepEqual(gasOf({ to: null, value: 1n, data: new Uint8Array(33) }), {
    intrinsic: 24_000n + 33n * 4n + 2n * 2n,
    floor: 24_000n + 33n * 64n,
  });
  const accessList = [{ address: to, storageKeys: [ZERO_HASH] }];
  assert.deepEqual(gasOf({ accessList }), {
    intrinsic: 15_000n + 4_180n + 4_048n,
    floor: 15_000n + 52n * 64n,
  });
  const authorization = { chainId: 1n, address: to, nonce: 0n, yParity: 0n, r: 1n, s: 1n };
  assert.equal(gasOf({ authorizationList: [authorization] }).intrinsic, 15_000n + 7_816n);
});
