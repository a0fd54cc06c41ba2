import type { ChainConfig } from "../../params/chain-config.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Block } from "../../types/block.ts";
import type { Header } from "../../types/header.ts";
import { headerHash } from "../../types/header-codec.ts";
import { InvalidBlockError } from "../errors.ts";
import { validateHeader } from "./validate-header.ts";

const UNCLES_MAX = 2;
/** An uncle's parent is at most this many generations above the block. */
const GENERATIONS_MAX = 7;

/** A block of the same chain by its hash, for looking back a few generations. */
export type AncestorLookup = (hash: Hash) => Block | undefined;

/**
 * Uncles of a proof-of-work block (Yellow Paper 11.1): at most two, each a valid header whose parent is an ancestor of the
 * block, none named before.
 * @throws InvalidBlockError
 */
export function validateUncles(block: Block, config: ChainConfig, ancestor: AncestorLookup): void {
  if (block.uncles.length === 0) return;
  if (block.uncles.length > UNCLES_MAX) reject("too many uncles");
  const ancestors = new Map<Hash, Header>();
  const known = new Set<Hash>([block.hash]);
  let hash = block.header.parentHash;
  for (let generation = 0; generation < GENERATIONS_MAX; generation++) {
    const older = ancestor(hash);
    if (older === undefined) break;
    ancestors.set(hash, older.header);
    for (const uncle of older.uncles) known.add(headerHash(uncle));
    hash = older.header.parentHash;
  }
  for (const uncle of block.uncles) {
    const uncleHash = headerHash(uncle);
    if (known.has(uncleHash)) reject("duplicate uncle");
    known.add(uncleHash);
    if (ancestors.has(uncleHash)) reject("uncle is ancestor");
    const parent = ancestors.get(uncle.parentHash);
    if (parent === undefined || uncle.parentHash === block.header.parentHash) {
      reject("uncle's parent is not ancestor");
    }
    validateHeader(uncle, parent, config);
  }
}

function reject(message: string): never {
  throw new InvalidBlockError("BLOCK_INVALID_UNCLES", message);
}
