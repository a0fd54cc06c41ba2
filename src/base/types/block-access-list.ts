import { NodeError } from "../errors.ts";
import { type Address, addressFromBytes, addressToBytes } from "../primitives/address.ts";
import { bigintToBytes, bytesToBigint } from "../primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../primitives/hash.ts";
import { bytesToHex } from "../primitives/hex.ts";
import { keccak256Hash } from "../primitives/keccak.ts";
import { decodeRlp, encodeRlp, type RlpItem } from "../primitives/rlp.ts";
import { EMPTY_UNCLES_HASH } from "./constants.ts";

/**
 * All accounts and slots that a block's execution accessed, with the values after each index that changed them (EIP-7928). Index 0 is the system
 * calls before the transactions, i + 1 is transaction i, and the index after the last one is withdrawals and later system calls.
 */
export type BlockAccessList = readonly AccountAccess[];

export type AccountAccess = {
  readonly address: Address;
  /** Ascending by slot. */
  readonly storageChanges: readonly SlotChanges[];
  /** Ascending, without the slots of `storageChanges`. */
  readonly storageReads: readonly Hash[];
  /** Ascending by index, like the next two. */
  readonly balanceChanges: readonly IndexedValue[];
  readonly nonceChanges: readonly IndexedValue[];
  readonly codeChanges: readonly IndexedCode[];
};

export type SlotChanges = { readonly slot: Hash; readonly changes: readonly IndexedValue[] };
export type IndexedValue = { readonly index: number; readonly value: bigint };
export type IndexedCode = { readonly index: number; readonly code: Uint8Array };

/** The hash of the RLP of an empty list, as for uncles. */
export const EMPTY_BLOCK_ACCESS_LIST_HASH: Hash = EMPTY_UNCLES_HASH;

/** The bytes are not a block access list in canonical form. */
export class InvalidBlockAccessListError extends NodeError {
  readonly code = "BLOCK_INVALID_BLOCK_ACCESS_LIST";
  constructor(where: string, reason: string) {
    super(`invalid block access list: ${where}: ${reason}`, { where, reason });
  }
}

/**
 *     list      account*
 *     account   [address, [[slot, [[index, value]*]]*], [slot*], [[index, balance]*], [[index, nonce]*], [[index, code]*]]
 *
 * Slots and values are integers without leading zeros.
 */
export function encodeBlockAccessList(list: BlockAccessList): Uint8Array {
  return encodeRlp(list.map(accountItem));
}

export function blockAccessListHash(list: BlockAccessList): Hash {
  return keccak256Hash(encodeBlockAccessList(list));
}

/**
 * Decodes a list, whose accounts, slots and indexes must ascend. Codes are views of `bytes`.
 * @throws InvalidRlpError, InvalidBlockAccessListError
 */
export function decodeBlockAccessList(bytes: Uint8Array): BlockAccessList {
  return ascending(listOf(decodeRlp(bytes), "list").map(readAccount), addressOf, "list", (at) => `account ${at}`);
}

/** The first difference of `actual` from `expected`: account, field, index and both values; undefined if they are equal. */
export function firstDifference(expected: BlockAccessList, actual: BlockAccessList): string | undefined {
  return firstOfPairs(expected, actual, addressOf, (want, got, address) => {
    const account = `account ${address}`;
    if (want === undefined) return `${account}: not expected`;
    if (got === undefined) return `${account}: missing`;
    return differenceOfAccounts(want, got, account);
  });
}

function accountItem(account: AccountAccess): RlpItem {
  return [
    addressToBytes(account.address),
    account.storageChanges.map(({ slot, changes }) => [slotItem(slot), changes.map(valueItem)]),
    account.storageReads.map(slotItem),
    account.balanceChanges.map(valueItem),
    account.nonceChanges.map(valueItem),
    account.codeChanges.map(({ index, code }) => [bigintToBytes(BigInt(index)), code]),
  ];
}

function slotItem(slot: Hash): Uint8Array {
  return bigintToBytes(BigInt(slot));
}

function valueItem({ index, value }: IndexedValue): RlpItem {
  return [bigintToBytes(BigInt(index)), bigintToBytes(value)];
}

const FIELDS = ["address", "storageChanges", "storageReads", "balanceChanges", "nonceChanges", "codeChanges"] as const;

function readAccount(item: RlpItem, at: number): AccountAccess {
  const [address, changes, reads, balances, nonces, codes] = tuple(item, FIELDS.length, `account number ${at}`);
  const addressBytes = bytesOf(address!, `account number ${at}`);
  if (addressBytes.length !== 20) fail(`account number ${at}`, `address of ${addressBytes.length} bytes`);
  const account = addressFromBytes(addressBytes);
  const place = (field: (typeof FIELDS)[number]) => `account ${account}, ${field}`;
  const storageChanges = listOf(changes!, place("storageChanges")).map((entry) =>
    readSlotChanges(entry, place("storageChanges")),
  );
  const storageReads = listOf(reads!, place("storageReads")).map((slot) => readSlot(slot, place("storageReads")));
  ascending(storageChanges, slotOf, place("storageChanges"), (slot) => `slot ${slot}`);
  ascending(
    storageReads,
    (slot) => slot,
    place("storageReads"),
    (slot) => `slot ${slot}`,
  );
  const changed = new Set(storageChanges.map(({ slot }) => slot));
  const both = storageReads.find((slot) => changed.has(slot));
  if (both !== undefined) fail(`${place("storageReads")}, slot ${both}`, "the slot is in storageChanges too");
  return {
    address: account,
    storageChanges,
    storageReads,
    balanceChanges: readValues(balances!, 256, place("balanceChanges")),
    nonceChanges: readValues(nonces!, 64, place("nonceChanges")),
    codeChanges: readIndexed(codes!, place("codeChanges"), (index, code) => ({
      index,
      code: bytesOf(code, `${place("codeChanges")}, index ${index}`),
    })),
  };
}

function readSlotChanges(item: RlpItem, place: string): SlotChanges {
  const [slotBytes, values] = tuple(item, 2, place);
  const slot = readSlot(slotBytes!, place);
  const changes = readValues(values!, 256, `${place}, slot ${slot}`);
  if (changes.length === 0) fail(`${place}, slot ${slot}`, "no changes");
  return { slot, changes };
}

function readSlot(item: RlpItem, place: string): Hash {
  return hashFromBigint(readInteger(item, 256, place));
}

function readValues(item: RlpItem, bits: number, place: string): readonly IndexedValue[] {
  return readIndexed(item, place, (index, value) => ({
    index,
    value: readInteger(value, bits, `${place}, index ${index}`),
  }));
}

function readIndexed<T extends { readonly index: number }>(
  item: RlpItem,
  place: string,
  read: (index: number, value: RlpItem) => T,
): readonly T[] {
  const entries = listOf(item, place).map((entry) => {
    const [index, value] = tuple(entry, 2, place);
    return read(Number(readInteger(index!, 32, place)), value!);
  });
  return ascending(entries, indexOf, place, (index) => `index ${index}`);
}

function readInteger(item: RlpItem, bits: number, place: string): bigint {
  const bytes = bytesOf(item, place);
  if (bytes.length > bits / 8) fail(place, `integer of ${bytes.length} bytes, at most ${bits / 8} are allowed`);
  if (bytes[0] === 0) fail(place, "integer with leading zero bytes");
  return bytesToBigint(bytes);
}

function ascending<T, K extends string | number>(
  entries: readonly T[],
  keyOf: (entry: T) => K,
  place: string,
  nameOf: (key: K) => string,
): readonly T[] {
  for (let i = 1; i < entries.length; i++) {
    const [last, key] = [keyOf(entries[i - 1]!), keyOf(entries[i]!)];
    if (last < key) continue;
    fail(`${place}, ${nameOf(key)}`, last === key ? "given twice" : `behind ${nameOf(last)}`);
  }
  return entries;
}

function listOf(item: RlpItem, place: string): readonly RlpItem[] {
  return item instanceof Uint8Array ? fail(place, "bytes where a list has to be") : item;
}

function tuple(item: RlpItem, length: number, place: string): readonly RlpItem[] {
  const items = listOf(item, place);
  return items.length === length ? items : fail(place, `${items.length} elements where ${length} have to be`);
}

function bytesOf(item: RlpItem, place: string): Uint8Array {
  return item instanceof Uint8Array ? item : fail(place, "a list where bytes have to be");
}

function fail(where: string, reason: string): never {
  throw new InvalidBlockAccessListError(where, reason);
}

function differenceOfAccounts(want: AccountAccess, got: AccountAccess, account: string): string | undefined {
  const ofValues = (field: string, wanted: readonly IndexedValue[], found: readonly IndexedValue[]) =>
    differenceOfIndexed(wanted, found, `${account}, ${field}`, ({ value }) => `${value}`);
  return (
    firstOfPairs(want.storageChanges, got.storageChanges, slotOf, (wanted, found, slot) =>
      ofValues(`storageChanges, slot ${slot}`, wanted?.changes ?? [], found?.changes ?? []),
    ) ??
    firstOfPairs(want.storageReads, got.storageReads, String, (wanted, found, slot) => {
      if (wanted === found) return undefined;
      return `${account}, storageReads, slot ${slot}: ${wanted === undefined ? "not expected" : "missing"}`;
    }) ??
    ofValues("balanceChanges", want.balanceChanges, got.balanceChanges) ??
    ofValues("nonceChanges", want.nonceChanges, got.nonceChanges) ??
    differenceOfIndexed(want.codeChanges, got.codeChanges, `${account}, codeChanges`, ({ code }) => bytesToHex(code))
  );
}

function differenceOfIndexed<T extends { readonly index: number }>(
  expected: readonly T[],
  actual: readonly T[],
  place: string,
  textOf: (entry: T) => string,
): string | undefined {
  return firstOfPairs(expected, actual, indexOf, (wanted, found, index) => {
    const want = wanted && shortened(textOf(wanted));
    const got = found && shortened(textOf(found));
    if (wanted && found && textOf(wanted) === textOf(found)) return undefined;
    return `${place}, index ${index}: ${got ?? "no change"}, expected ${want ?? "no change"}`;
  });
}

/** The first result of `compare` over two ascending lists, whose entries are paired by key. */
function firstOfPairs<T, K extends string | number>(
  expected: readonly T[],
  actual: readonly T[],
  keyOf: (entry: T) => K,
  compare: (expected: T | undefined, actual: T | undefined, key: K) => string | undefined,
): string | undefined {
  let [i, j] = [0, 0];
  while (i < expected.length || j < actual.length) {
    const wantKey = i < expected.length ? keyOf(expected[i]!) : undefined;
    const gotKey = j < actual.length ? keyOf(actual[j]!) : undefined;
    const takesWant = wantKey !== undefined && (gotKey === undefined || wantKey <= gotKey);
    const takesGot = gotKey !== undefined && (wantKey === undefined || gotKey <= wantKey);
    const want = takesWant ? expected[i++] : undefined;
    const got = takesGot ? actual[j++] : undefined;
    const difference = compare(want, got, (takesWant ? wantKey : gotKey)!);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

const addressOf = ({ address }: AccountAccess): Address => address;
const slotOf = ({ slot }: SlotChanges): Hash => slot;
const indexOf = ({ index }: { readonly index: number }): number => index;

/** A code has up to 65,536 bytes. */
function shortened(text: string): string {
  return text.length <= 90 ? text : `${text.slice(0, 80)}… (${(text.length - 2) / 2} bytes)`;
}
