import assert from "node:assert/strict";
import { test } from "node:test";
import { type Address, addressToBytes } from "../primitives/address.ts";
import { hashFromBigint, hashToBytes } from "../primitives/hash.ts";
import { addToBloom, BLOOM_LENGTH, EMPTY_BLOOM, ReceiptBlooms } from "./bloom.ts";

test("the bloom of each receipt has only the bits of its logs", () => {
  const blooms = new ReceiptBlooms();
  const logsOf = (receipt: number) =>
    Array.from({ length: receipt % 3 }, (_, log) => ({
      address: `0x${(receipt % 7).toString().repeat(40)}` as Address,
      topics: [hashFromBigint(BigInt(receipt)), hashFromBigint(BigInt(receipt * 1_000 + log))],
      data: new Uint8Array(),
    }));
  // More than share a buffer, and read when all are made.
  const made = Array.from({ length: 200 }, (_, receipt) => blooms.of(logsOf(receipt)));
  for (const [receipt, bloom] of made.entries()) {
    const expected = new Uint8Array(BLOOM_LENGTH);
    for (const { address, topics } of logsOf(receipt)) {
      addToBloom(expected, addressToBytes(address));
      for (const topic of topics) addToBloom(expected, hashToBytes(topic));
    }
    assert.deepEqual(bloom, expected);
  }
  assert.equal(blooms.of([]), EMPTY_BLOOM);
});
