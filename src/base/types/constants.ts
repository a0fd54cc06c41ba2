import type { Hash } from "../primitives/hash.ts";

/** keccak256 of the RLP of an empty list: `sha3Uncles` of every block since the merge. */
export const EMPTY_UNCLES_HASH = "0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347" as Hash;
/** keccak256 of the RLP of the empty string: root of a trie that holds nothing. */
export const EMPTY_TRIE_ROOT = "0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421" as Hash;
/** keccak256 of the empty string: code hash of an account without code. */
export const EMPTY_CODE_HASH = "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470" as Hash;
/** `withdrawalsRoot` of a block without withdrawals (EIP-4895). */
export const EMPTY_WITHDRAWALS_ROOT = EMPTY_TRIE_ROOT;
/** `requestsHash` of a block without requests: SHA-256 of nothing (EIP-7685). */
export const EMPTY_REQUESTS_HASH = "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" as Hash;
