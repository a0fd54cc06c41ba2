import { type Address, addressToBytes } from "../../primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { type Account, EMPTY_CODE_HASH } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import type { DecodedState, HistoricStates } from "./historic-states.ts";
import type { BlockIndex } from "./index/block-index.ts";

export type StoredStateModules = {
  readonly index: BlockIndex;
  /** Answers for the newest block. */
  readonly head: DecodedState;
  /** Answers for the others. */
  readonly historic: HistoricStates;
};

export type StateGuards = {
  /** Number of the newest block. */
  headNumber(): number | undefined;
  /** @throws StatePrunedError */
  assertNotPruned(): void;
};

/**
 * The state after block `number` as the index knows it. It stays that state while blocks are added;
 * once the block itself is rolled back it means nothing.
 */
export function createStoredState(
  number: number,
  { index, head, historic }: StoredStateModules,
  { headNumber, assertNotPruned }: StateGuards,
): StateReader {
  const { slots } = index;
  const isNewest = () => number === headNumber();
  let older: DecodedState | undefined;
  const values = (): DecodedState => {
    if (isNewest()) return head;
    older ??= historic.at(number);
    return older;
  };
  return {
    account: (address: Address): Account | undefined => values().account(address),
    storage: (address: Address, slot: Hash): bigint => values().storage(address, slot),
    code(codeHash: Hash): Uint8Array {
      if (codeHash === EMPTY_CODE_HASH) return EMPTY_BYTES;
      return index.knownCode(codeHash);
    },
    *storageEntries(address: Address): Generator<readonly [Hash, bigint]> {
      const prefix = addressToBytes(address);
      if (isNewest()) {
        for (const [key, value] of slots.latestEntries(prefix)) {
          yield [hashFromBytes(key.subarray(20)), bytesToBigint(value)];
        }
        return;
      }
      for (const key of slots.keys(prefix)) {
        const value = slots.at(key, number);
        // After the read: what was removed before it is known to be removed by then.
        assertNotPruned();
        if (value !== undefined) yield [hashFromBytes(key.subarray(20)), bytesToBigint(value)];
      }
    },
  };
}
