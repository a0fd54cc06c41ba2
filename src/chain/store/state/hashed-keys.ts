import { keccak256 } from "../../../base/primitives/keccak.ts";
import { type KvReader, type KvWriter, prefixRange } from "../../../store/storage/kv.ts";
import { TABLE, tableKey } from "../../../store/storage/schema.ts";

/** So much of a hash orders the rows; what it is the hash of follows. */
export const HASH_PART = 8;
/** Rows of a scan read together: some 100 µs. */
const PIECE_ROWS = 256;
const ADDRESS_LENGTH = 20;

/**
 * The addresses and slots that ever had a value in the order of their hashes, which is that of the tries.
 *
 *     address   first 8 bytes of keccak256(address) ‖ address → nothing
 *     slot      address ‖ first 8 bytes of keccak256(slot) ‖ slot → nothing
 */
export function writeHashedAddress(writer: Pick<KvWriter, "put">, address: Uint8Array, hash?: Uint8Array): void {
  writer.put(hashedAddressKey(address, hash), NOTHING);
}

/** @param key address ‖ slot @param hash of the slot */
export function writeHashedSlot(writer: Pick<KvWriter, "put">, key: Uint8Array, hash?: Uint8Array): void {
  writer.put(hashedSlotKey(key, hash), NOTHING);
}

export function removeHashedAddress(writer: KvWriter, address: Uint8Array): void {
  writer.remove(hashedAddressKey(address));
}

/** @param key address ‖ slot */
export function removeHashedSlot(writer: KvWriter, key: Uint8Array): void {
  writer.remove(hashedSlotKey(key));
}

function hashedAddressKey(address: Uint8Array, hash = keccak256(address)): Uint8Array {
  return tableKey(TABLE.hashedAddress, hash.subarray(0, HASH_PART), address);
}

function hashedSlotKey(key: Uint8Array, hash = keccak256(key.subarray(ADDRESS_LENGTH))): Uint8Array {
  const [address, slot] = [key.subarray(0, ADDRESS_LENGTH), key.subarray(ADDRESS_LENGTH)];
  return tableKey(TABLE.hashedSlot, address, hash.subarray(0, HASH_PART), slot);
}

/** Addresses whose hash begins with the nibbles `path`, with their hashes. */
export function* addressesUnder(reader: KvReader, path: Uint8Array): Generator<Hashed> {
  yield* keysUnder(reader, Uint8Array.of(TABLE.hashedAddress), path);
}

/** Addresses whose hash is `start` or after it, in the order of the hashes; rows are read a piece at a time. */
export function addressesFrom(reader: KvReader, start: Uint8Array): Generator<Hashed> {
  return keysFrom(reader, Uint8Array.of(TABLE.hashedAddress), start);
}

/** The same for slots of `address`. */
export function slotsFrom(reader: KvReader, address: Uint8Array, start: Uint8Array): Generator<Hashed> {
  return keysFrom(reader, tableKey(TABLE.hashedSlot, address), start);
}

/** Every address that ever had a slot, in the order of the addresses. */
export function* addressesWithSlots(reader: KvReader): Generator<Uint8Array> {
  const { to } = prefixRange(Uint8Array.of(TABLE.hashedSlot));
  let from = Uint8Array.of(TABLE.hashedSlot);
  for (;;) {
    const row = Array.from(reader.range({ from, to, limit: 1 }))[0]?.[0];
    if (row === undefined) return;
    const address = row.slice(1, 1 + ADDRESS_LENGTH);
    yield address;
    from = tableKey(TABLE.hashedSlot, address, AFTER_SLOTS);
  }
}

/** The address with this hash. */
export function addressWithHash(reader: KvReader, hash: Uint8Array): Uint8Array | undefined {
  for (const { key } of addressesUnder(reader, nibblesOf(hash))) return key;
  return undefined;
}

/** The slot of `address` with this hash. */
export function slotWithHash(reader: KvReader, address: Uint8Array, hash: Uint8Array): Uint8Array | undefined {
  for (const { key } of slotsUnder(reader, address, nibblesOf(hash))) return key;
  return undefined;
}

/** Slots of `address` whose hash begins with the nibbles `path`, with their hashes. */
export function* slotsUnder(reader: KvReader, address: Uint8Array, path: Uint8Array): Generator<Hashed> {
  yield* keysUnder(reader, tableKey(TABLE.hashedSlot, address), path);
}

/** The addresses and slots that ever had a value, found by their hashes. */
export type HashedKeys = {
  /** Addresses whose hash is `start` or after it, in the order of the hashes; without some of the unmerged ones. */
  addressesFrom(start: Uint8Array): Iterable<Hashed>;
  /** Addresses changed by blocks that are not merged into the tables yet. */
  unmergedAddresses(): Iterable<Uint8Array>;
  /** Not found where it is unmerged. */
  addressWithHash(hash: Uint8Array): Uint8Array | undefined;
  /** Not found where it is unmerged. */
  slotWithHash(address: Uint8Array, hash: Uint8Array): Uint8Array | undefined;
  /** address ‖ slot, as `unmergedAddresses`. */
  unmergedSlots(): Iterable<Uint8Array>;
};

export type Hashed = { readonly hash: Uint8Array; readonly key: Uint8Array };

const NOTHING = new Uint8Array(0);
/** Longer than the rest of any row of an address, and after all of them. */
const AFTER_SLOTS = new Uint8Array(HASH_PART + 33).fill(0xff);

function* keysFrom(reader: KvReader, prefix: Uint8Array, start: Uint8Array): Generator<Hashed> {
  let from: Uint8Array = Buffer.concat([prefix, start.subarray(0, HASH_PART)]);
  const { to } = prefixRange(prefix);
  /** Keys whose hashes have the same part in their rows: these rows are in the order of the keys. */
  let equal: Hashed[] = [];
  for (;;) {
    const rows = Array.from(reader.range({ from, to, limit: PIECE_ROWS }), ([row]) => row.slice());
    for (const row of rows) {
      const key = row.subarray(prefix.length + HASH_PART);
      const hash = keccak256(key);
      if (Buffer.compare(hash, start) < 0) continue;
      if (equal.length > 0 && !hasEqualPart(equal[0]!.hash, hash)) {
        yield* inOrder(equal);
        equal = [];
      }
      equal.push({ hash, key });
    }
    if (rows.length < PIECE_ROWS) break;
    from = Buffer.concat([rows.at(-1)!, Uint8Array.of(0)]);
  }
  yield* inOrder(equal);
}

function hasEqualPart(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < HASH_PART; i++) if (a[i] !== b[i]) return false;
  return true;
}

function inOrder(equal: Hashed[]): readonly Hashed[] {
  return equal.length < 2 ? equal : equal.sort((a, b) => Buffer.compare(a.hash, b.hash));
}

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

function nibblesOf(hash: Uint8Array): Uint8Array {
  const nibbles = new Uint8Array(2 * hash.length);
  for (const [i, byte] of hash.entries()) {
    nibbles[2 * i] = byte >> 4;
    nibbles[2 * i + 1] = byte & 15;
  }
  return nibbles;
}
