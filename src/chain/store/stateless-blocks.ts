import type { Hash } from "../../base/primitives/hash.ts";
import type { Header } from "../../base/types/header.ts";

/**
 * Blocks from the base to a later one that came without the states between them: the base has the state after the last of them as its
 * changes, the others change nothing. Whatever their headers say, a state trie calls that state by the root of the last one's.
 */
export type StatelessBlocks = { readonly last: number; readonly stateRoot: Hash };

/** What a state trie calls the state that the store has after a block. */
export function rootOf({ number, stateRoot }: Header, stateless: StatelessBlocks | undefined): Hash {
  return stateless !== undefined && number <= stateless.last ? stateless.stateRoot : stateRoot;
}
