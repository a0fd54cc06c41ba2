import { addressOfCompressedKey } from "../../base/crypto/compressed-public-key.ts";
import { addressFromBytes, addressToBytes } from "../../base/primitives/address.ts";
import { bytesToBigint, EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import type { RlpItem } from "../../base/primitives/rlp.ts";
import { MalformedBytesError } from "../../store/storage/byte-io.ts";
import type { Vote } from "./snapshot.ts";

/**
 * An integer in canonical form, without leading zeros.
 * @param max at most 2^53 − 1
 * @throws MalformedBytesError
 */
export function integerOf(item: RlpItem | undefined, max: number): number {
  const isCanonical = item instanceof Uint8Array && item[0] !== 0;
  const value = isCanonical ? bytesToBigint(item) : undefined;
  if (value === undefined || value > BigInt(max)) {
    throw new MalformedBytesError(`not an integer up to ${max}`);
  }
  return Number(value);
}

/**
 * The items of a list.
 * @param count required number of items
 * @throws MalformedBytesError
 */
export function listOf(item: RlpItem | undefined, count?: number): readonly RlpItem[] {
  if (item === undefined || item instanceof Uint8Array || item.length !== (count ?? item.length)) {
    throw new MalformedBytesError(`not a list${count === undefined ? "" : ` of ${count} items`}`);
  }
  return item;
}

const ADD = 0xff;
const DROP = 0x00;

/** `[candidate, 0xff, publicKey]` adds, `[candidate, 0x00, ""]` drops: the direction bytes of EIP-225's nonce. */
export function voteItem({ candidate, authorize, publicKey }: Vote): readonly Uint8Array[] {
  return [addressToBytes(candidate), Uint8Array.of(authorize ? ADD : DROP), publicKey];
}

/** undefined for items that `voteItem` does not make: another shape, or a key of another address. */
export function voteOfItem(item: RlpItem): Vote | undefined {
  if (item instanceof Uint8Array || item.length !== 3) return undefined;
  const [candidate, direction, publicKey] = item;
  if (!(candidate instanceof Uint8Array && direction instanceof Uint8Array)) return undefined;
  if (!(publicKey instanceof Uint8Array) || candidate.length !== 20) return undefined;
  if (direction.length !== 1) return undefined;
  const address = addressFromBytes(candidate);
  if (direction[0] === DROP && publicKey.length === 0) {
    return { candidate: address, authorize: false, publicKey: EMPTY_BYTES };
  }
  if (direction[0] !== ADD || addressOfCompressedKey(publicKey) !== address) return undefined;
  return { candidate: address, authorize: true, publicKey };
}
