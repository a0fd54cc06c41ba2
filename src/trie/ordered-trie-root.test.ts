import assert from "node:assert/strict";
import { test } from "node:test";
import { createMPT } from "@ethereumjs/mpt";
import { bytesToHex } from "../primitives/hex.ts";
import { encodeRlp } from "../primitives/rlp.ts";
import { EMPTY_TRIE_ROOT } from "../types/constants.ts";
import { orderedTrieRoot } from "./ordered-trie-root.ts";

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
