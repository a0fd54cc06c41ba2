import { hashToBytes } from "../../../primitives/hash.ts";
import { keccak256Message, keccakMessage } from "../../../primitives/keccak.ts";
import { EMPTY_CODE_HASH } from "../../../state/account.ts";
import { byKey } from "../../../storage/row-order.ts";
import { EMPTY_TRIE_ROOT_BYTES } from "../../../trie/empty-root.ts";
import type { NodeSink } from "../../../trie/subtrie.ts";
import { TRIE_KEY_LENGTH, TrieBuilder } from "../../../trie/trie-builder.ts";
import type { StateEntries } from "../../records/state-entries.ts";

const EMPTY_CODE_HASH_BYTES = hashToBytes(EMPTY_CODE_HASH);
const HAS_CODE = 0x80;
const ADDRESS_LENGTH = 20;
/** Longest account in a leaf: two bytes of prefix, 9 for the nonce, 33 each for balance and hashes. */
const ACCOUNT_LENGTH_MAX = 2 + 9 + 33 + 33 + 33;
const SLOT_VALUE_LENGTH_MAX = 33;

/** Keys of the tries: keccak256 of each address, and of each slot. */
export type StateKeys = {
  readonly addresses: Uint8Array;
  /** Numbers of the accounts in the order of their keys. */
  readonly order: ArrayLike<number>;
  readonly slots: Uint8Array;
  /** Numbers of the slots of account number `index` in the order of their keys. */
  slotOrder(index: number): ArrayLike<number>;
};

export function stateKeys(entries: StateEntries): StateKeys {
  const addresses = new Uint8Array(entries.accountCount * TRIE_KEY_LENGTH);
  for (let i = 0; i < entries.accountCount; i++) {
    keccakMessage.set(entries.address(i));
    keccak256Message(ADDRESS_LENGTH, addresses, i * TRIE_KEY_LENGTH);
  }
  const slots = new Uint8Array(entries.slotCount * TRIE_KEY_LENGTH);
  for (let slot = 0; slot < entries.slotCount; slot++) {
    entries.writeSlot(slot, keccakMessage, 0);
    keccak256Message(32, slots, slot * TRIE_KEY_LENGTH);
  }
  return {
    addresses,
    order: byKey(addresses, TRIE_KEY_LENGTH, 0, entries.accountCount),
    slots,
    slotOrder: (index) => byKey(slots, TRIE_KEY_LENGTH, entries.firstSlot(index), entries.firstSlot(index + 1)),
  };
}

/**
 * Root of the state with these accounts and slots.
 * @param sinkOf receives the nodes of the trie of `owner`, as in TrieNodeReader; those of the storage tries between those of the accounts
 * @param onAccount called for each account in the order of the keys, while what is read of it is in the processor's cache
 */
export function buildStateTrie(
  entries: StateEntries,
  keys: StateKeys,
  sinkOf: (owner: Uint8Array) => Pick<NodeSink, "add">,
  onAccount?: (index: number) => void,
): Uint8Array {
  const slotValue = new Uint8Array(SLOT_VALUE_LENGTH_MAX);
  const accountValue = new Uint8Array(ACCOUNT_LENGTH_MAX);

  const storageRootOf = (index: number): Uint8Array => {
    if (entries.firstSlot(index) === entries.firstSlot(index + 1)) return EMPTY_TRIE_ROOT_BYTES;
    const start = index * TRIE_KEY_LENGTH;
    const owner = keys.addresses.slice(start, start + TRIE_KEY_LENGTH);
    const trie = new TrieBuilder(sinkOf(owner));
    const order = keys.slotOrder(index);
    for (let i = 0; i < order.length; i++) {
      const slot = order[i]!;
      const length = writeNumber(entries.slotValue(slot), slotValue, 0);
      trie.add(keys.slots, slot * TRIE_KEY_LENGTH, slotValue.subarray(0, length));
    }
    return trie.finish();
  };

  const trie = new TrieBuilder(sinkOf(new Uint8Array(0)));
  for (let i = 0; i < keys.order.length; i++) {
    const index = keys.order[i]!;
    const length = writeAccount(entries.account(index), storageRootOf(index), accountValue);
    trie.add(keys.addresses, index * TRIE_KEY_LENGTH, accountValue.subarray(0, length));
    onAccount?.(index);
  }
  return trie.finish();
}

/** Writes RLP([nonce, balance, storageRoot, codeHash]) of an account value to `out`; its length. */
function writeAccount(value: Uint8Array, storageRoot: Uint8Array, out: Uint8Array): number {
  const nonceEnd = 1 + (value[0]! & ~HAS_CODE);
  const hasCode = (value[0]! & HAS_CODE) !== 0;
  const balanceStart = hasCode ? nonceEnd + 32 : nonceEnd;
  let at = writeNumber(value.subarray(1, nonceEnd), out, 2);
  at = writeNumber(value.subarray(balanceStart), out, at);
  out[at++] = 0xa0;
  out.set(storageRoot, at);
  at += 32;
  out[at++] = 0xa0;
  out.set(hasCode ? value.subarray(nonceEnd, balanceStart) : EMPTY_CODE_HASH_BYTES, at);
  at += 32;
  // The hashes alone take 66 bytes, so the length always needs a byte of its own.
  out[0] = 0xf8;
  out[1] = at - 2;
  return at;
}

/** Writes the RLP of a number of at most 32 bytes, given without leading zeros, at `offset`; returns where it ends. */
function writeNumber(bytes: Uint8Array, out: Uint8Array, offset: number): number {
  let at = offset;
  if (bytes.length !== 1 || bytes[0]! >= 0x80) out[at++] = 0x80 + bytes.length;
  for (let i = 0; i < bytes.length; i++) out[at++] = bytes[i]!;
  return at;
}
