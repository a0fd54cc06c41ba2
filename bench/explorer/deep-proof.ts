import { type Address, parseAddress } from "../../src/base/primitives/address.ts";
import { type Hash, hashFromBytes } from "../../src/base/primitives/hash.ts";
import { bytesToHex } from "../../src/base/primitives/hex.ts";
import { keccak256, keccak256OfHex } from "../../src/base/primitives/keccak.ts";
import { encodeRlp } from "../../src/base/primitives/rlp.ts";
import { EMPTY_ACCOUNT } from "../../src/evm/state/account.ts";
import { encodeTrieAccount } from "../../src/evm/state/trie-account.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../src/store/trie/empty-root.ts";
import { hexPrefixLength, nibblesOf, writeHexPrefix } from "../../src/store/trie/nibbles.ts";
import type { Json } from "../../src/web/explorer/verify/verdict.ts";

export type DeepProof = {
  readonly address: Address;
  readonly stateRoot: Hash;
  /** as `eth_getProof` answers it */
  readonly answer: Json;
};

/**
 * The proof of an account in a trie so full that its leaf is the node number `levels`: every node before it is a branch with
 * sixteen children, as in a state of some 16^(levels − 1) accounts.
 */
export function deepProof(levels: number): DeepProof {
  const address = parseAddress(`0x${"5a".repeat(20)}`);
  const path = nibblesOf(keccak256OfHex(address));
  const rest = path.subarray(levels - 1);
  const prefix = new Uint8Array(hexPrefixLength(rest.length));
  writeHexPrefix(rest, true, prefix, 0);
  const account = { ...EMPTY_ACCOUNT, nonce: 7n, balance: 10n ** 18n };
  let node = encodeRlp([prefix, encodeTrieAccount(account, EMPTY_TRIE_ROOT_BYTES)]);
  const nodes = [node];
  for (let depth = levels - 2; depth >= 0; depth--) {
    const child = keccak256(node);
    const children = Array.from({ length: 16 }, (_, nibble) =>
      nibble === path[depth] ? child : keccak256(Uint8Array.of(depth, nibble)),
    );
    node = encodeRlp([...children, new Uint8Array(0)]);
    nodes.unshift(node);
  }
  return {
    address,
    stateRoot: hashFromBytes(keccak256(node)),
    answer: { accountProof: nodes.map(bytesToHex) },
  };
}
