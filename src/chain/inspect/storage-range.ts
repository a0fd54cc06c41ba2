import type { Address } from "../../primitives/address.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { keccak256OfHex } from "../../primitives/keccak.ts";
import type { StateReader } from "../../state/reader.ts";
import { startHash } from "./state-dump.ts";

/** Slots of one account in the order of its storage trie, which is that of the hashes of the slots. */
export type StorageRange = {
  readonly slots: readonly {
    /** keccak256 of the slot */
    readonly hash: Hash;
    readonly slot: Hash;
    readonly value: bigint;
  }[];
  /** Hash of the first slot that was left out; undefined when there is none. */
  readonly next: Hash | undefined;
  /** The account has no storage, or does not exist. */
  readonly isEmpty: boolean;
};

/** @param start hash of the first slot; 32 bytes, or fewer, which zeros follow */
export function storageRange(
  state: StateReader,
  address: Address,
  start: Uint8Array,
  slotsMax: number,
): StorageRange {
  const first = startHash(start);
  let isEmpty = true;
  const slots: StorageRange["slots"][number][] = [];
  for (const [slot, value] of state.storageEntries(address)) {
    if (value === 0n) continue;
    isEmpty = false;
    const hash = hashFromBytes(keccak256OfHex(slot));
    if (hash >= first) slots.push({ hash, slot, value });
  }
  slots.sort((a, b) => (a.hash < b.hash ? -1 : 1));
  return { slots: slots.slice(0, slotsMax), next: slots[slotsMax]?.hash, isEmpty };
}
