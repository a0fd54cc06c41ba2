import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { intrinsicGas } from "./message.ts";

const to = `0x${"11".repeat(20)}` as Address;

test("intrinsicGas of a plain transfer is 21000 in every fork", () => {
  assert.deepEqual(intrinsicGas({ to, data: EMPTY_BYTES }, "frontier"), {
    intrinsic: 21_000n,
    floor: 0n,
  });
  assert.deepEqual(intrinsicGas({ to, data: EMPTY_BYTES }, "osaka"), {
    intrinsic: 21_000n,
    floor: 21_000n,
  });
});

test("intrinsicGas prices calldata by fork (EIP-2028, EIP-7623)", () => {
  const data = Uint8Array.of(0, 1, 2, 0);
  assert.equal(intrinsicGas({ to, data }, "petersburg").intrinsic, 21_000n + 8n + 136n);
  assert.equal(intrinsicGas({ to, data }, "istanbul").intrinsic, 21_000n + 8n + 32n);
  assert.equal(intrinsicGas({ to, data }, "prague").floor, 21_000n + 10n * (2n + 8n));
});

test("intrinsicGas of a creation grows with Homestead and Shanghai (EIP-2, EIP-3860)", () => {
  const data = new Uint8Array(33);
  const creation = { to: null, data };
  assert.equal(intrinsicGas(creation, "frontier").intrinsic, 21_000n + 132n);
  assert.equal(intrinsicGas(creation, "homestead").intrinsic, 53_000n + 132n);
  assert.equal(intrinsicGas(creation, "shanghai").intrinsic, 53_000n + 132n + 4n);
});

test("intrinsicGas counts access list entries and authorizations (EIP-2930, EIP-7702)", () => {
  const accessList = [
    { address: to, storageKeys: [ZERO_HASH, ZERO_HASH] },
    { address: to, storageKeys: [] },
  ];
  const authorization = { chainId: 1n, address: to, nonce: 0n, yParity: 0n, r: 1n, s: 1n };
  const tx = { to, data: EMPTY_BYTES, accessList, authorizationList: [authorization] };
  assert.equal(intrinsicGas(tx, "osaka").intrinsic, 21_000n + 2n * 2_400n + 2n * 1_900n + 25_000n);
});
