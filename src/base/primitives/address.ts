import { bytesToHex, dataToBytes, hexToBytes, InvalidHexError } from "./hex.ts";
import { keccak256 } from "./keccak.ts";

/** 20 bytes as lower-case hex with prefix; can be a Map key. */
export type Address = `0x${string}` & { readonly __address: never };

export const ADDRESS_LENGTH = 20;
export const ZERO_ADDRESS = `0x${"00".repeat(20)}` as Address;

const ADDRESS_PATTERN = /^0x[0-9a-fA-F]{40}$/;

/** @throws InvalidHexError unless `text` is DATA of 20 bytes; letter case is not a checksum here. */
export function parseAddress(text: string): Address {
  if (!ADDRESS_PATTERN.test(text)) {
    const length = hexToBytes(text).length * 2;
    throw new InvalidHexError(`hex string has length ${length}, want 40 for common.Address`);
  }
  return text.toLowerCase() as Address;
}

export function addressFromBytes(bytes: Uint8Array): Address {
  if (bytes.length !== ADDRESS_LENGTH) throw new InvalidHexError(`address of ${bytes.length} bytes`);
  return bytesToHex(bytes) as Address;
}

/** The low 20 bytes of a word, as opcodes read an address. */
export function addressFromWord(word: bigint): Address {
  return `0x${BigInt.asUintN(160, word).toString(16).padStart(40, "0")}` as Address;
}

export const addressToBytes = dataToBytes as (address: Address) => Uint8Array;

/** EIP-55 mixed-case form, for display. */
export function checksumAddress(address: Address): string {
  const digits = address.slice(2);
  const hash = keccak256(Buffer.from(digits, "latin1"));
  let out = "0x";
  for (let i = 0; i < 40; i++) {
    const nibble = (hash[i >> 1]! >> (i % 2 === 0 ? 4 : 0)) & 15;
    const digit = digits[i]!;
    out += nibble >= 8 ? digit.toUpperCase() : digit;
  }
  return out;
}
