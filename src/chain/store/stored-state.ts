import { type Address, addressToBytes } from "../../base/primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import type { Account } from "../../evm/state/account.ts";
import type { StateReader } from "../../evm/state/reader.ts";
import type { BlockIndex } from "./index/block-index.ts";
import type { DecodedState, HistoricStates } from "./state/state-caches.ts";

/** Where the states after all blocks of one store are read. */
export type StateSource = {
  readonly index: BlockIndex;
  /** Answers for the newest block. */
  readonly head: DecodedState;
  /** Answers for the others. */
  readonly historic: HistoricStates;
  /** The newest rows belong to the newest block, not to a later one. */
  readonly isWriter: boolean;
  readonly view: { readonly newest: { readonly number: number } | undefined };
  /** @throws StatePrunedError */
  assertNotPruned(number: number): void;
};

/**
 * The state after a block as the index knows it. It stays that state while blocks are added; once the block itself is rolled back it
 * means nothing. A class: every call makes one.
 */
export class StoredState implements StateReader {
  readonly #number: number;
  readonly #source: StateSource;
  #older: DecodedState | undefined;

  constructor(number: number, source: StateSource) {
    this.#number = number;
    this.#source = source;
  }

  account(address: Address): Account | undefined {
    const { view, head } = this.#source;
    return (this.#number === view.newest?.number ? head : this.#olderValues()).account(address);
  }

  storage(address: Address, slot: Hash): bigint {
    const { view, head } = this.#source;
    return (this.#number === view.newest?.number ? head : this.#olderValues()).storage(address, slot);
  }

  code(codeHash: Hash): Uint8Array {
    if (codeHash === EMPTY_CODE_HASH) return EMPTY_BYTES;
    return this.#source.index.knownCode(codeHash);
  }

  /** What has to be read of one moment is read before the first entry: a reader may pause between any two, for blocks and merges. */
  *storageEntries(address: Address): Generator<readonly [Hash, bigint]> {
    const { slots } = this.#source.index;
    const prefix = addressToBytes(address);
    if (this.#source.isWriter && this.#isNewest()) {
      yield* Array.from(
        slots.latestEntries(prefix),
        ([key, value]) => [hashFromBytes(key.subarray(20)), bytesToBigint(value)] as const,
      );
      return;
    }
    for (const key of slots.keys(prefix)) {
      const value = this.#slotAt(key);
      if (value !== undefined) yield [hashFromBytes(key.subarray(20)), bytesToBigint(value)];
    }
  }

  #slotAt(key: Uint8Array): Uint8Array | undefined {
    try {
      return this.#source.index.slots.at(key, this.#number);
    } finally {
      // After the read, failed or not: what was removed before it is known to be removed by then.
      this.#source.assertNotPruned(this.#number);
    }
  }

  #isNewest(): boolean {
    return this.#number === this.#source.view.newest?.number;
  }

  #olderValues(): DecodedState {
    this.#older ??= this.#source.historic.at(this.#number);
    return this.#older;
  }
}
