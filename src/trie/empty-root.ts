import type { Hash } from "../primitives/hash.ts";
import { hashFromBytes } from "../primitives/hash.ts";
import { keccak256 } from "../primitives/keccak.ts";

/** keccak256(RLP("")): what a trie without entries has in place of a root node. Never written to. */
export const EMPTY_TRIE_ROOT_BYTES: Uint8Array = keccak256(Uint8Array.of(0x80));

/** Root of a trie without entries. */
export const EMPTY_TRIE_ROOT: Hash = hashFromBytes(EMPTY_TRIE_ROOT_BYTES);
