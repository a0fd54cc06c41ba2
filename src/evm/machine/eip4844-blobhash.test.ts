import assert from "node:assert/strict";
import { test } from "node:test";
import { testBlock, testMessage } from "../../../test/support/evm/machine/environment.ts";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import type { ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { type Hash, ZERO_HASH } from "../../base/primitives/hash.ts";
import { bytesToHex, hexToBytes } from "../../base/primitives/hex.ts";
import { createWorldState } from "../state/world-state.ts";
import { createEvm } from "./engine.ts";

/** Returns BLOBHASH of the index in its calldata. */
const CODE = hexToBytes("0x6000354960005260206000f3");
const HASHES = ["aa", "bb"].map((byte) => `0x01${byte.repeat(31)}` as Hash);

function blobHash(index: bigint): string {
  const to = `0x${"cc".repeat(20)}` as typeof ZERO_ADDRESS;
  const alloc = new Map([[to, { nonce: 0n, balance: 0n, code: CODE, storage: new Map() }]]);
  const { returnData } = createEvm().execute(
    testMessage({
      to,
      data: hexToBytes(`0x${index.toString(16).padStart(64, "0")}`),
      blobVersionedHashes: HASHES,
    }),
    testBlock({ hardfork: "cancun" }),
    createWorldState(createMemoryState(alloc)),
  );
  return bytesToHex(returnData);
}

test("BLOBHASH gives the hash at its index, whole", () => {
  assert.equal(blobHash(0n), HASHES[0]);
  assert.equal(blobHash(1n), HASHES[1]);
});

test("BLOBHASH is 0 beyond the hashes of the transaction", () => {
  assert.equal(blobHash(2n), ZERO_HASH);
  assert.equal(blobHash(2n ** 64n), ZERO_HASH);
});
