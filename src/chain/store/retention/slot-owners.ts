import { keccak256 } from "../../../primitives/keccak.ts";
import type { KvReader } from "../../../storage/kv.ts";
import { addressesWithSlots } from "../hashed-keys.ts";

/** Of one in eight addresses without slots among a million with some, `mayHaveSlots` is true. */
const BITS = 2 ** 23;

/** Which addresses may have slots. Most have none, and looking for them takes as long as reading the account. */
export class SlotOwners {
  readonly #bits = new Uint8Array(BITS / 8);

  /** Reads the addresses, with a pause after each. */
  *read(kv: KvReader): Generator<undefined> {
    for (const address of addressesWithSlots(kv)) {
      const bit = bitOf(keccak256(address));
      this.#bits[bit >> 3]! |= 1 << (bit & 7);
      yield undefined;
    }
  }

  /** False only for an address without slots. @param hash of the address */
  mayHaveSlots(hash: Uint8Array): boolean {
    const bit = bitOf(hash);
    return (this.#bits[bit >> 3]! & (1 << (bit & 7))) !== 0;
  }
}

function bitOf(hash: Uint8Array): number {
  return ((hash[0]! << 15) | (hash[1]! << 7) | (hash[2]! >> 1)) % BITS;
}
