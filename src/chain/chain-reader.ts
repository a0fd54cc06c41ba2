import { invariant } from "../errors.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import { HISTORY_STORAGE_ADDRESS } from "../params/gas.ts";
import { hardforkAt, isAtLeast } from "../params/hardforks.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import type { StateTrie } from "../state/state-trie.ts";
import type { ExecutedBlock } from "../types/block.ts";
import type { ChainReader } from "./reader.ts";
import type { RemoteChain } from "./remote-chain.ts";
import type { StatePatches } from "./state-patches.ts";
import type { ReadableBlockStore } from "./store/block-store.ts";
import { StatePrunedError } from "./store/store-errors.ts";

/** The reads of a chain over its store. @param modules.head the newest block */
export function createChainReader({
  config,
  genesisHash,
  store,
  stateTrie,
  head,
  patches,
  remote,
}: {
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  readonly store: ReadableBlockStore;
  readonly stateTrie: Pick<StateTrie, "prove">;
  readonly head: () => ExecutedBlock;
  readonly patches?: StatePatches | undefined;
  readonly remote?: RemoteChain | undefined;
}): Omit<ChainReader, "pending"> {
  const storedState = (number: number) => {
    const state = store.stateAt(number);
    return remote === undefined ? state : remote.under(number, state);
  };
  const ancestorHash = (number: number) => {
    const isAncestor = number < (store.base() ?? 0);
    if (!isAncestor) return undefined;
    return remote ? remote.hashAt(number) : hashFromHistory(number, store, config);
  };
  return {
    config,
    genesisHash,
    head,
    oldest: () => ({
      block: store.base() ?? 0,
      state: store.stateBase(),
      proof: store.proofBase(),
    }),
    blockByNumber: (number) => store.block(number),
    headerAt: (number) => store.headerAt(number),
    hashAt: (number) => ancestorHash(number) ?? store.hashAt(number),
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
      const state = storedState(number);
      return patches === undefined ? state : patches.over(number, state);
    },
    patchAt: (number) => patches?.at(number),
    proofAt(number, address, slots) {
      const { stateRoot } = knownBlock(store, number).block.header;
      const base = store.proofBase();
      if (number < base) throw new StatePrunedError({ number, base, root: stateRoot });
      return stateTrie.prove(stateRoot, address, slots);
    },
  };
}

/** EIP-2935: its contract stores the hashes of so many blocks. */
const HISTORY_SERVE_WINDOW = 8_191;

/** Hash of a block before the base of a store, which BLOCKHASH still reaches: from the oldest state. undefined where that has none. */
function hashFromHistory(
  number: number,
  store: Pick<ReadableBlockStore, "base" | "stateBase" | "headerAt" | "stateAt">,
  config: ChainConfig,
): Hash | undefined {
  if (number >= (store.base() ?? 0)) return undefined;
  const oldest = store.stateBase();
  if (number < oldest - HISTORY_SERVE_WINDOW) return undefined;
  const header = store.headerAt(oldest);
  if (header === undefined || !isAtLeast(hardforkAt(config, header), "prague")) return undefined;
  const slot = hashFromBigint(BigInt(number % HISTORY_SERVE_WINDOW));
  const hash = store.stateAt(oldest).storage(HISTORY_STORAGE_ADDRESS, slot);
  return hash === 0n ? undefined : hashFromBigint(hash);
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
