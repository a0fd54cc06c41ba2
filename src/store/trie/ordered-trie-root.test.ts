import assert from "node:assert/strict";
import { test } from "node:test";
import { createMPT } from "@ethereumjs/mpt";
import { bigintToBytes } from "../../base/primitives/bytes.ts";
import { hashFromBytes } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { encodeRlp } from "../../base/primitives/rlp.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "./empty-root.ts";
import { updateTrie } from "./in-place-update.ts";
import { HASH_ONLY, orderedTrieRoot } from "./ordered-trie-root.ts";
import { withUnhashedNodes } from "./unhashed-nodes.ts";

test("orderedTrieRoot of nothing is the empty root", () => {
  assert.equal(orderedTrieRoot([]), EMPTY_TRIE_ROOT);
});

test("orderedTrieRoot agrees with @ethereumjs/mpt after each of 300 values of all sizes", async () => {
  const oracle = await createMPT();
  const values: Uint8Array[] = [];
  for (let index = 0; index < 300; index++) {
    // From one byte to a value far longer than any node of the state.
    const value = new Uint8Array(1 + ((index * index * 37) % (index % 10 === 0 ? 9000 : 70)));
    value.fill(index + 1);
    value[0] = 0x80 | index;
    values.push(value);
    const key = index === 0 ? Uint8Array.of() : Uint8Array.of(index >> 8, index & 255);
    await oracle.put(encodeRlp(index > 0 && index < 256 ? key.subarray(1) : key), value);
    assert.equal(orderedTrieRoot(values), bytesToHex(oracle.root()));
  }
});

/** The same root by single insertions into an empty trie. */
function insertedRoot(values: readonly Uint8Array[]): string {
  const keys = values.map((_, index) => encodeRlp(bigintToBytes(BigInt(index))));
  const changes = { keys, valueOf: (index: number) => values[index] };
  return hashFromBytes(updateTrie(EMPTY_TRIE_ROOT_BYTES, { source: undefined, changes, sink: HASH_ONLY }));
}

/** Values of 32 bytes to `lengthMax`, all different. */
function longValues(count: number, lengthMax: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => {
    const value = new Uint8Array(32 + ((index * 7919) % (lengthMax - 31)));
    new DataView(value.buffer).setUint32(0, index);
    return value;
  });
}

test("orderedTrieRoot of long values is the root of their insertions at every shape of the trie", () => {
  const counts = [1, 2, 16, 17, 127, 128, 129, 130, 255, 256, 257, 272, 4_096, 4_097];
  for (const count of counts) {
    const values = longValues(count, 60);
    assert.equal(orderedTrieRoot(values), insertedRoot(values), `${count} values`);
  }
});

test("orderedTrieRoot of values above and below the length that is hashed alone", () => {
  const values = longValues(600, 1_400);
  assert.equal(orderedTrieRoot(values), insertedRoot(values));
});

test("orderedTrieRoot of more nodes than are hashed together", () => {
  const values = longValues(9_000, 700);
  assert.equal(orderedTrieRoot(values), insertedRoot(values));
  withUnhashedNodes(({ count }) => assert.equal(count, 0));
});
