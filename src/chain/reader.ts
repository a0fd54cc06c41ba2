import { invariant } from "../base/errors.ts";
import type { ChainConfig } from "../base/params/chain-config.ts";
import { HISTORY_STORAGE_ADDRESS } from "../base/params/gas.ts";
import { hardforkAt, RULES_AT } from "../base/params/hardforks.ts";
import type { Address } from "../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../base/primitives/hash.ts";
import type { MaybePromise } from "../base/threads/maybe-promise.ts";
import type { SharedSlices } from "../base/threads/shared-slices.ts";
import type { ExecutedBlock } from "../base/types/block.ts";
import type { Header } from "../base/types/header.ts";
import type { StateChanges, StateReader } from "../evm/state/reader.ts";
import { patchedState, type StatePatch, statePatch } from "../evm/state/state-changes.ts";
import type { AccountProof, StateTrie } from "../evm/state/state-trie.ts";
import type { GasPayment, IncludedTransaction, ReadableBlockStore } from "./block-store.ts";
import { StatePrunedError } from "./store-errors.ts";

/**
 * The canonical chain, for reading. Every block is final, so `safe` and `finalized` are the head. Blocks older than the oldest one are
 * answered with BlockPrunedError, older states with StatePrunedError.
 */
export interface ChainReader {
  readonly config: ChainConfig;
  readonly genesisHash: Hash;
  head(): ExecutedBlock;
  oldest(): OldestBlocks;
  block(at: number | Hash): ExecutedBlock | undefined;
  /** The same, decoded in slices where it is large. A rollback meanwhile does not change what was requested. */
  blockInSlices(number: number, slices: SharedSlices): MaybePromise<ExecutedBlock | undefined>;
  /** Only the header of a block, or only its hash: a few microseconds each. */
  header(number: number): Header | undefined;
  blockHash(number: number): Hash | undefined;
  /** One transaction of a block with its receipt, without decoding the others. */
  transactionAt(number: number, index: number): IncludedTransaction | undefined;
  /** How many transactions a block has, without decoding it. */
  transactionCount(number: number): number | undefined;
  /** What each transaction of a block paid for its gas, without decoding the block. */
  gasPayments(number: number): readonly GasPayment[] | undefined;
  /** RLP of the block access list, without decoding the block; undefined where none is stored. */
  accessList(number: number): Uint8Array | undefined;
  /** Number of the block with this hash. */
  numberOf(blockHash: Hash): number | undefined;
  /** An included transaction with its receipt; likewise only its block and its index there. */
  transaction(hash: Hash): IncludedTransaction | undefined;
  transactionPosition(hash: Hash): { readonly number: number; readonly index: number } | undefined;
  /** The state after the block; `number` is at most the head's. */
  stateAt(number: number): StateReader;
  /** What was set by hand after the block, on a dev chain: `stateAt` has it, the header's state root has not. */
  patchAt(number: number): StateChanges | undefined;
  /** EIP-1186 proof against the state root of block `number`. */
  proof(address: Address, slots: readonly Hash[], number: number): AccountProof;
  /**
   * A block really built on the head from the pool, and the state after it. Cached until head or pool change.
   * undefined when no valid block can be built, say because a system contract is missing.
   */
  pending(): PendingBlock | undefined;
}

/** Numbers of the oldest block, of the oldest whose state can be read, and of the oldest whose state can be proven. */
export type OldestBlocks = {
  readonly block: number;
  readonly state: number;
  readonly proof: number;
};

export type PendingBlock = {
  readonly executed: ExecutedBlock;
  readonly state: StateReader;
  /** What lies between the head's state and this one. */
  readonly changes: StateChanges;
};

/** Published once a block is on disk and readable: the only source of events. */
export type BlockCommitted = { readonly executed: ExecutedBlock; readonly changes: StateChanges };

/** The chain that this one continues from a block on, for what is not stored here. */
export type RemoteChain = {
  /** `state`, the stored one after block `number`, over the remote chain's state at the fork. */
  under(number: number, state: StateReader): StateReader;
  /** Hash of a block before the fork; undefined: none */
  hashAt(number: number): Hash | undefined;
};

type Entry = { readonly changes: StateChanges; readonly patch: StatePatch };

/**
 * Values that callers of a dev chain set by hand, by the number of the block after which they were set. Reads of that state return them,
 * and the next block includes them in its changes; the block's own state root stays as it is.
 */
export class StatePatches {
  readonly #byNumber = new Map<number, Entry>();

  get size(): number {
    return this.#byNumber.size;
  }

  at(number: number): StateChanges | undefined {
    return this.#byNumber.get(number)?.changes;
  }

  /** Numbers of the blocks after which something was set. */
  numbers(): Iterable<number> {
    return this.#byNumber.keys();
  }

  /** `state`, which is the one after block `number`, with what was set by hand. */
  over(number: number, state: StateReader): StateReader {
    const entry = this.#byNumber.get(number);
    return entry === undefined ? state : patchedState(state, entry.patch);
  }

  /** @param changes undefined: none */
  set(number: number, changes: StateChanges | undefined): void {
    if (changes === undefined) this.#byNumber.delete(number);
    else this.#byNumber.set(number, { changes, patch: statePatch(changes) });
  }

  /** The blocks after `number` are gone. */
  dropAfter(number: number): void {
    for (const patched of this.#byNumber.keys()) {
      if (patched > number) this.#byNumber.delete(patched);
    }
  }
}

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
    block(at) {
      const number = typeof at === "number" ? at : store.numberOf(at);
      return number === undefined ? undefined : store.block(number);
    },
    blockInSlices: (number, slices) => store.blockInSlices(number, slices),
    header: (number) => store.header(number),
    blockHash: (number) => ancestorHash(number) ?? store.blockHash(number),
    transactionAt: (number, index) => store.transactionAt(number, index),
    transactionCount: (number) => store.transactionCount(number),
    gasPayments: (number) => store.gasPayments(number),
    accessList: (number) => store.accessList(number),
    numberOf: (hash) => store.numberOf(hash),
    transactionPosition: (hash) => store.transactionPosition(hash),
    transaction(hash) {
      const position = store.transactionPosition(hash);
      const found = position && store.transactionAt(position.number, position.index);
      return found?.transaction.hash === hash ? found : undefined;
    },
    stateAt(number) {
      const state = storedState(number);
      return patches === undefined ? state : patches.over(number, state);
    },
    patchAt: (number) => patches?.at(number),
    proof(address, slots, number) {
      const { stateRoot } = knownBlock(store, number).block.header;
      const base = store.proofBase();
      if (number < base) throw new StatePrunedError({ number, base, root: stateRoot });
      return stateTrie.prove(stateRoot, address, slots);
    },
  };
}

/** EIP-2935: its contract stores the hashes of so many blocks. */
const HISTORY_SERVE_WINDOW = 8_191;

/** Hash of a block before the base of a store, which BLOCKHASH still reaches, from the oldest state; undefined if that state lacks it. */
function hashFromHistory(
  number: number,
  store: Pick<ReadableBlockStore, "base" | "stateBase" | "header" | "stateAt">,
  config: ChainConfig,
): Hash | undefined {
  if (number >= (store.base() ?? 0)) return undefined;
  const oldest = store.stateBase();
  if (number < oldest - HISTORY_SERVE_WINDOW) return undefined;
  const header = store.header(oldest);
  if (header === undefined || !RULES_AT[hardforkAt(config, header)].prague) return undefined;
  const slot = hashFromBigint(BigInt(number % HISTORY_SERVE_WINDOW));
  const hash = store.stateAt(oldest).storage(HISTORY_STORAGE_ADDRESS, slot);
  return hash === 0n ? undefined : hashFromBigint(hash);
}

/** A block that must be in the store. */
export function knownBlock(store: Pick<ReadableBlockStore, "block">, number: number | undefined): ExecutedBlock {
  const executed = number === undefined ? undefined : store.block(number);
  invariant(executed, `block ${number} must be in the store`);
  return executed;
}
