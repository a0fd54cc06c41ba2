import { invariant } from "../errors.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import type { Hash } from "../primitives/hash.ts";
import type { StateTrie } from "../state/state-trie.ts";
import type { ExecutedBlock } from "../types/block.ts";
import type { ChainReader } from "./reader.ts";
import type { StatePatches } from "./state-patches.ts";
import type { ReadableBlockStore } from "./store/block-store.ts";

/** The reads of a chain over its store. @param modules.head the newest block */
export function createChainReader({
  config,
  genesisHash,
  store,
  stateTrie,
  head,
  patches,
}: {
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  readonly store: ReadableBlockStore;
  readonly stateTrie: Pick<StateTrie, "prove">;
  readonly head: () => ExecutedBlock;
  readonly patches?: StatePatches | undefined;
}): Omit<ChainReader, "pending"> {
  return {
    config,
    genesisHash,
    head,
    blockByNumber: (number) => store.block(number),
    headerAt: (number) => store.headerAt(number),
    hashAt: (number) => store.hashAt(number),
    transactionAt: (number, index) => store.transactionAt(number, index),
    numberOf: (hash) => store.numberOf(hash),
    transactionPosition: (hash) => store.transaction(hash),
    blockByHash: (hash) => {
      const number = store.numberOf(hash);
      return number === undefined ? undefined : store.block(number);
    },
    transaction: (hash) => {
      const found = store.transaction(hash);
      return found && { executed: knownBlock(store, found.number), index: found.index };
    },
    stateAt(number) {
      const state = store.stateAt(number);
      return patches === undefined ? state : patches.over(number, state);
    },
    patchAt: (number) => patches?.at(number),
    proofAt: (number, address, slots) =>
      stateTrie.prove(knownBlock(store, number).block.header.stateRoot, address, slots),
  };
}

/** A block that must be in the store. */
export function knownBlock(
  store: Pick<ReadableBlockStore, "block">,
  number: number | undefined,
): ExecutedBlock {
  const executed = number === undefined ? undefined : store.block(number);
  invariant(executed, `block ${number} must be in the store`);
  return executed;
}
