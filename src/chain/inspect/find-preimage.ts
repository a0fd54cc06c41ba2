import { setImmediate } from "node:timers/promises";
import type { Address } from "../../primitives/address.ts";
import { type Hash, hashFromBytes, hashToBytes } from "../../primitives/hash.ts";
import { hexToBytes } from "../../primitives/hex.ts";
import { keccak256OfHex } from "../../primitives/keccak.ts";
import type { StateReader } from "../../state/reader.ts";

/** Keys hashed before other work gets its turn: some 10 ms. */
const SLICE = 5_000;

/**
 * The address or the slot whose hash is a key of the state's tries; undefined where none is. Hashes every address that ever had an
 * account, then every slot that is not 0 in `state`: nothing is stored for this.
 * @param assertInTime called now and then; throws when the search takes too long
 */
export async function findPreimage(
  wanted: Hash,
  {
    state,
    addresses,
  }: { readonly state: StateReader; readonly addresses: () => Iterable<Address> },
  assertInTime: () => void,
): Promise<Uint8Array | undefined> {
  let count = 0;
  const isWanted = async (key: Address | Hash): Promise<boolean> => {
    if (++count % SLICE === 0) {
      await setImmediate();
      assertInTime();
    }
    return hashFromBytes(keccak256OfHex(key)) === wanted;
  };
  for (const address of addresses()) if (await isWanted(address)) return hexToBytes(address);
  for (const address of addresses()) {
    for (const [slot] of state.storageEntries(address)) {
      if (await isWanted(slot)) return hashToBytes(slot);
    }
  }
  return undefined;
}
