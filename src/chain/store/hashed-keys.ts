import { keccak256 } from "../../primitives/keccak.ts";
import type { KvReader, KvWriter } from "../../storage/kv.ts";
import { TABLE, tableKey } from "../../storage/schema.ts";

/** So much of a hash orders the rows; what it is the hash of follows. */
const HASH_PART = 8;
const ADDRESS_LENGTH = 20;

/**
 * The addresses and slots that ever had a value in the order of their hashes, which is that of the tries.
 *
 *     address   first 8 bytes of keccak256(address) ‖ address → nothing
 *     slot      address ‖ first 8 bytes of keccak256(slot) ‖ slot → nothing
 */
export function writeHashedAddress(writer: KvWriter, address: Uint8Array): void {
  writer.put(hashedAddressKey(address), NOTHING);
}

/** @param key address ‖ slot */
export function writeHashedSlot(writer: KvWriter, key: Uint8Array): void {
  writer.put(hashedSlotKey(key), NOTHING);
}

export function removeHashedAddress(writer: KvWriter, address: Uint8Array): void {
  writer.remove(hashedAddressKey(address));
}

/** @param key address ‖ slot */
export function removeHashedSlot(writer: KvWriter, key: Uint8Array): void {
  writer.remove(hashedSlotKey(key));
}

function hashedAddressKey(address: Uint8Array): Uint8Array {
  return tableKey(TABLE.hashedAddress, keccak256(address).subarray(0, HASH_PART), address);
}

function hashedSlotKey(key: Uint8Array): Uint8Array {
  const slot = key.subarray(ADDRESS_LENGTH);
  const hash = keccak256(slot).subarray(0, HASH_PART);
  return tableKey(TABLE.hashedSlot, key.subarray(0, ADDRESS_LENGTH), hash, slot);
}

/** Addresses whose hash begins with the nibbles `path`, with their hashes. */
export function* addressesUnder(reader: KvReader, path: Uint8Array): Generator<Hashed> {
  yield* keysUnder(reader, Uint8Array.of(TABLE.hashedAddress), path);
}

/** Slots of `address` whose hash begins with the nibbles `path`, with their hashes. */
export function* slotsUnder(
  reader: KvReader,
  address: Uint8Array,
  path: Uint8Array,
): Generator<Hashed> {
  yield* keysUnder(reader, tableKey(TABLE.hashedSlot, address), path);
}

export type Hashed = { readonly hash: Uint8Array; readonly key: Uint8Array };

const NOTHING = new Uint8Array(0);

function* keysUnder(reader: KvReader, prefix: Uint8Array, path: Uint8Array): Generator<Hashed> {
  const from = new Uint8Array(HASH_PART);
  const to = new Uint8Array(HASH_PART).fill(0xff);
  for (let i = 0; i < Math.min(path.length, 2 * HASH_PART); i++) {
    const shift = i % 2 === 0 ? 4 : 0;
    const mask = 0xf << shift;
    from[i >> 1] = (from[i >> 1]! & ~mask) | (path[i]! << shift);
    to[i >> 1] = (to[i >> 1]! & ~mask) | (path[i]! << shift);
  }
  // One byte more than the highest hash: it is in the range with whatever follows it.
  const range = {
    from: Buffer.concat([prefix, from]),
    to: Buffer.concat([prefix, to, new Uint8Array(40).fill(0xff)]),
  };
  // Read to its end first: the receiver reads other rows between two of these.
  for (const [row] of Array.from(reader.range(range))) {
    const key = row.slice(prefix.length + HASH_PART);
    const hash = keccak256(key);
    if (isUnder(hash, path)) yield { hash, key };
  }
}

function isUnder(hash: Uint8Array, path: Uint8Array): boolean {
  for (let i = 0; i < path.length; i++) {
    const nibble = i % 2 === 0 ? hash[i >> 1]! >> 4 : hash[i >> 1]! & 15;
    if (nibble !== path[i]) return false;
  }
  return true;
}
