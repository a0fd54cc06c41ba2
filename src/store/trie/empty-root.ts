import { hashToBytes } from "../../base/primitives/hash.ts";
import { EMPTY_TRIE_ROOT } from "../../base/types/constants.ts";

/** keccak256(RLP("")): what a trie without entries has instead of a root node. Never written to. */
export const EMPTY_TRIE_ROOT_BYTES: Uint8Array = hashToBytes(EMPTY_TRIE_ROOT);
