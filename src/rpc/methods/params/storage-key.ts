import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { InvalidParamsError } from "../../transport/errors.ts";

/** As nearly all keys are written, a thousand of them in one request. */
const WORD_PATTERN = /^0x[0-9a-f]{64}$/;

/** Of a key that is too long. */
const KEY_CHARS_SHOWN = 128;

/**
 * The storage slot a caller names by a hex number of at most 32 bytes; prefix, even length and the number itself may be missing.
 * @throws InvalidParamsError
 */
export function parseStorageKey(key: string): Hash {
  if (WORD_PATTERN.test(key)) return key as Hash;
  const digits = /^0[xX]/.test(key) ? key.slice(2) : key;
  if (digits.length > 64) {
    const shown = JSON.stringify(key.slice(0, KEY_CHARS_SHOWN));
    throw new InvalidParamsError(`storage key too long (want at most 32 bytes): ${shown}`);
  }
  if (!/^[0-9a-fA-F]*$/.test(digits)) {
    throw new InvalidParamsError(`invalid hex in storage key: ${JSON.stringify(key)}`);
  }
  return hashFromBigint(digits === "" ? 0n : BigInt(`0x${digits}`));
}
