import {
  ADDRESS_LENGTH,
  type Address,
  addressFromBytes,
  addressToBytes,
} from "../../primitives/address.ts";
import { concatBytes } from "../../primitives/bytes.ts";

/** EIP-7702: what stands before the address in the code of a delegated account. */
const PREFIX = Uint8Array.of(0xef, 0x01, 0x00);

/** The account whose code runs in place of `code`; undefined when `code` is no delegation. */
export function delegationTarget(code: Uint8Array): Address | undefined {
  if (code.length !== PREFIX.length + ADDRESS_LENGTH) return undefined;
  if (PREFIX.some((byte, i) => code[i] !== byte)) return undefined;
  return addressFromBytes(code.subarray(PREFIX.length));
}

/** The code that delegates to `target`. */
export function delegationCode(target: Address): Uint8Array {
  return concatBytes(PREFIX, addressToBytes(target));
}
