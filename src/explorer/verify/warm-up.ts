import { keccak256 } from "../../primitives/keccak.ts";
import { decodeRlp, encodeRlp } from "../../primitives/rlp.ts";

const HASH_LENGTH = 32;
const BRANCH = encodeRlp([...Array(16).fill(new Uint8Array(HASH_LENGTH)), new Uint8Array(0)]);
/** After so many a browser has compiled what it runs. */
const NODES = 8;

/** Hashes and decodes trie nodes while the node computes an answer: what checks a proof is then compiled. */
export function warmUp(): void {
  for (let i = 0; i < NODES; i++) {
    keccak256(BRANCH);
    decodeRlp(BRANCH);
  }
}
