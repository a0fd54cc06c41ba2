import { setImmediate } from "node:timers/promises";
import { type Hash, hashToBytes } from "../../primitives/hash.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import type { HashedKeys } from "../store/hashed-keys.ts";

/** Keys looked at before other work gets its turn: some 10 ms. */
const SLICE = 1_000;
const ADDRESS_LENGTH = 20;

/**
 * The address or the slot whose hash is a key of the state's tries, of now or of an old block; undefined where none is. An address is one
 * look-up, a slot one for each address; of blocks not merged yet every key is hashed.
 * @param assertInTime called now and then; throws when the search takes too long
 */
export async function findPreimage(
  wanted: Hash,
  keys: HashedKeys,
  assertInTime: () => void,
): Promise<Uint8Array | undefined> {
  const hash = hashToBytes(wanted);
  let count = 0;
  const find = async <Key>(
    all: Iterable<Key>,
    preimageOf: (key: Key) => Uint8Array | undefined,
  ) => {
    for (const key of all) {
      if (++count % SLICE === 0) {
        await setImmediate();
        assertInTime();
      }
      const found = preimageOf(key);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const ifWanted = (key: Uint8Array) => (keccak256Hash(key) === wanted ? key : undefined);
  // Those in memory first: what is merged meanwhile is found in the tables.
  const slots = Array.from(keys.unmergedSlots(), (key) => key.subarray(ADDRESS_LENGTH));
  return (
    (await find(Array.from(keys.unmergedAddresses()), ifWanted)) ??
    (await find(slots, ifWanted)) ??
    keys.addressWithHash(hash) ??
    (await find(keys.addressesFrom(new Uint8Array(32)), ({ key }) => keys.slotWithHash(key, hash)))
  );
}
