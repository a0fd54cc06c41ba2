import { type Address, addressToBytes } from "../../primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { type Account, EMPTY_CODE_HASH } from "../../state/account.ts";
import type { StateReader } from "../../state/reader.ts";
import { decodeAccount } from "../records/changes-record.ts";
import { type HeadState, slotKey } from "./head-state.ts";
import type { BlockIndex } from "./index/block-index.ts";

/** Asked at every read. */
export type StateGuards = {
  /** Number of the newest block. */
  headNumber(): number | undefined;
  /** @throws StatePrunedError */
  assertNotPruned(): void;
};

/**
 * The state after block `number` as the index knows it. It stays that state while blocks are added;
 * once the block itself is rolled back it means nothing.
 * @param head answers for the newest block
 */
export function createStoredState(
  index: BlockIndex,
  number: number,
  head: HeadState,
  { headNumber, assertNotPruned }: StateGuards,
): StateReader {
  const { accounts, slots } = index;
  const isNewest = () => number === headNumber();
  /** After the read: what was removed before it is known to be removed by then. */
  const unlessPruned = <T>(value: T): T => {
    assertNotPruned();
    return value;
  };
  return {
    account(address: Address): Account | undefined {
      if (isNewest()) return head.account(address);
      const value = unlessPruned(accounts.at(addressToBytes(address), number));
      return value && decodeAccount(value);
    },
    storage(address: Address, slot: Hash): bigint {
      if (isNewest()) return head.storage(address, slot);
      const value = unlessPruned(slots.at(slotKey(address, slot), number));
      return value === undefined ? 0n : bytesToBigint(value);
    },
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
        const value = unlessPruned(slots.at(key, number));
        if (value !== undefined) yield [hashFromBytes(key.subarray(20)), bytesToBigint(value)];
      }
    },
  };
}
