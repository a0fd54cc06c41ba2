import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { hashToBytes } from "../../../base/primitives/hash.ts";
import { keccak256Message, keccakMessage } from "../../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import { byKey } from "../../../store/storage/row-order.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../store/trie/empty-root.ts";
import { HASH_ONLY } from "../../../store/trie/ordered-trie-root.ts";
import type { NodeSink } from "../../../store/trie/subtrie.ts";
import { TRIE_KEY_LENGTH, TrieBuilder } from "../../../store/trie/trie-builder.ts";
import type { StateEntries } from "../../records/state-entries.ts";

const EMPTY_CODE_HASH_BYTES = hashToBytes(EMPTY_CODE_HASH);
const HAS_CODE = 0x80;
const ADDRESS_LENGTH = 20;
const SLOT_LENGTH = 32;
const HASH_LENGTH = 32;
/** Longest account in a leaf: two bytes of prefix, 9 for the nonce, 33 each for balance and hashes. */
const ACCOUNT_LENGTH_MAX = 2 + 9 + 33 + 33 + 33;
const SLOT_VALUE_LENGTH_MAX = 33;

/** Keys of the tries: keccak256 of each address, and of each slot. */
export type StateKeys = {
  readonly addresses: Uint8Array;
  readonly slots: Uint8Array;
  /** Numbers of the slots of account number `index` in the order of their keys. */
  slotOrder(index: number): ArrayLike<number>;
};

export function stateKeys(entries: StateEntries): StateKeys & { readonly order: Uint32Array } {
  const { accountCount, slotCount } = entries;
  const addresses = new Uint8Array(accountCount * TRIE_KEY_LENGTH);
  for (let i = 0; i < accountCount; i++) {
    entries.copyAddress(i, keccakMessage, 0);
    keccak256Message(ADDRESS_LENGTH, addresses, i * TRIE_KEY_LENGTH);
  }
  const slots = new Uint8Array(slotCount * TRIE_KEY_LENGTH);
  for (let slot = 0; slot < slotCount; slot++) {
    entries.writeSlot(slot, keccakMessage, 0);
    keccak256Message(SLOT_LENGTH, slots, slot * TRIE_KEY_LENGTH);
  }
  return {
    addresses,
    slots,
    order: byKey(addresses, TRIE_KEY_LENGTH, 0, accountCount),
    slotOrder: (index) => byKey(slots, TRIE_KEY_LENGTH, entries.firstSlot(index), entries.firstSlot(index + 1)),
  };
}

/** Receives the nodes of the trie of an owner, as in TrieNodeReader. */
type SinkOf = (owner: Uint8Array) => Pick<NodeSink, "add">;

/** What a trie of accounts, and the storage tries under it, are built from. */
export type TrieSource = {
  readonly entries: StateEntries;
  readonly keys: StateKeys;
  /** Numbers of the accounts by their keys. */
  readonly order: Uint32Array;
  /** Receives the nodes of the storage tries between the accounts' nodes. */
  readonly sinkOf: SinkOf;
  /** Called for each account in the order of the keys, while what is read of it is in the processor's cache. */
  readonly onAccount?: (index: number) => void;
};

/** Root of the state with these accounts and slots. */
export function buildStateTrie({ entries, keys, order, sinkOf, onAccount }: TrieSource): Uint8Array {
  const trie = new TrieBuilder(sinkOf(EMPTY_BYTES));
  const slotValue = new Uint8Array(SLOT_VALUE_LENGTH_MAX);
  const accountValue = new Uint8Array(ACCOUNT_LENGTH_MAX);

  // One for all: most of them are small.
  const storage = new TrieBuilder(HASH_ONLY);

  const storageRootOf = (index: number): Uint8Array => {
    const start = index * TRIE_KEY_LENGTH;
    const owner = keys.addresses.slice(start, start + TRIE_KEY_LENGTH);
    storage.restart(sinkOf(owner));
    const slots = keys.slotOrder(index);
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]!;
      const length = writeNumber(entries.bytes, entries.slotValueStart(slot), entries.slotValueEnd(slot), slotValue, 0);
      storage.add(keys.slots, slot * TRIE_KEY_LENGTH, slotValue.subarray(0, length));
    }
    return storage.finish();
  };

  for (let i = 0; i < order.length; i++) {
    const index = order[i]!;
    const hasSlots = entries.firstSlot(index) < entries.firstSlot(index + 1);
    const storageRoot = hasSlots ? storageRootOf(index) : EMPTY_TRIE_ROOT_BYTES;
    const length = writeAccount(entries, index, storageRoot, accountValue);
    trie.add(keys.addresses, index * TRIE_KEY_LENGTH, accountValue.subarray(0, length));
    onAccount?.(index);
  }
  return trie.finish();
}

/** Writes RLP([nonce, balance, storageRoot, codeHash]) of an account to `out`; its length. */
function writeAccount(entries: StateEntries, index: number, storageRoot: Uint8Array, out: Uint8Array): number {
  const { bytes } = entries;
  const start = entries.valueStart(index);
  const nonceEnd = start + 1 + (bytes[start]! & ~HAS_CODE);
  const hasCode = (bytes[start]! & HAS_CODE) !== 0;
  const balanceStart = hasCode ? nonceEnd + HASH_LENGTH : nonceEnd;
  let at = writeNumber(bytes, start + 1, nonceEnd, out, 2);
  at = writeNumber(bytes, balanceStart, entries.valueEnd(index), out, at);
  at = writeHash(storageRoot, 0, out, at);
  at = hasCode ? writeHash(bytes, nonceEnd, out, at) : writeHash(EMPTY_CODE_HASH_BYTES, 0, out, at);
  // The two hashes take 66 bytes, so the length always needs its own byte.
  out[0] = 0xf8;
  out[1] = at - 2;
  return at;
}

function writeHash(bytes: Uint8Array, start: number, out: Uint8Array, offset: number): number {
  out[offset] = 0x80 + HASH_LENGTH;
  for (let i = 0; i < HASH_LENGTH; i++) out[offset + 1 + i] = bytes[start + i]!;
  return offset + 1 + HASH_LENGTH;
}

/** Writes the RLP of a number of at most 32 bytes, given without leading zeros, at `offset`; returns where it ends. */
function writeNumber(bytes: Uint8Array, start: number, end: number, out: Uint8Array, offset: number): number {
  let at = offset;
  const length = end - start;
  if (length !== 1 || bytes[start]! >= 0x80) out[at++] = 0x80 + length;
  for (let i = start; i < end; i++) out[at++] = bytes[i]!;
  return at;
}
