import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { bigintToBytes } from "../../base/primitives/bytes.ts";
import { hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { encodeRlp, InvalidRlpError } from "../../base/primitives/rlp.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { decodeTrieAccount, encodeTrieAccount, storageRootOf } from "./trie-account.ts";

const hash = fc.uint8Array({ minLength: 32, maxLength: 32 });
/** Every length of bytes, and the borders between them. */
const uint = (bits: number) =>
  fc
    .tuple(fc.nat(bits), fc.constantFrom(-1n, 0n, 1n), fc.bigInt(0n, 2n ** BigInt(bits) - 1n))
    .map(([shift, step, any]) => {
      const border = (1n << BigInt(shift)) + step;
      return border < 1n << BigInt(bits) ? border : any;
    });

test("encodeTrieAccount is the RLP of its four fields, and decodeTrieAccount undoes it", () => {
  const codeHashes = fc.oneof(hash.map(hashFromBytes), fc.constant(EMPTY_CODE_HASH));
  fc.assert(
    fc.property(uint(64), uint(256), hash, codeHashes, (nonce, balance, storageRoot, codeHash) => {
      const leaf = encodeTrieAccount({ nonce, balance, codeHash }, storageRoot);
      const fields = [bigintToBytes(nonce), bigintToBytes(balance), storageRoot];
      assert.deepEqual(leaf, encodeRlp([...fields, hashToBytes(codeHash)]));
      assert.deepEqual(decodeTrieAccount(leaf), { nonce, balance, codeHash, storageRoot });
      assert.deepEqual(storageRootOf(leaf), storageRoot);
    }),
    { numRuns: 1000 },
  );
});

test("decodeTrieAccount refuses what is not an account", () => {
  const root = new Uint8Array(32);
  const empty = new Uint8Array(0);
  for (const item of [empty, [empty, empty, root], [empty, empty, root, empty], [empty, [], root, root]]) {
    assert.throws(() => decodeTrieAccount(encodeRlp(item)), InvalidRlpError);
  }
});
