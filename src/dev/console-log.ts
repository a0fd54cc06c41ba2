import { format } from "node:util";
import { type Address, addressFromWord, checksumAddress } from "../base/primitives/address.ts";
import { bytesToBigint } from "../base/primitives/bytes.ts";
import { bytesToHex } from "../base/primitives/hex.ts";
import { keccak256 } from "../base/primitives/keccak.ts";

/** Contracts call it to print: `console.sol` of Hardhat and forge-std. "console.log" in ASCII. */
export const CONSOLE_ADDRESS = "0x000000000000000000636f6e736f6c652e6c6f67" as Address;

const WORD = 32;
/** Longest text that is printed of one call, in bytes. */
const TEXT_BYTES_MAX = 64 << 10;

/** The types of each argument position of the functions with one to four arguments. */
const MIXED = ["uint256", "string", "bool", "address"] as const;

/** What a type's word says. @param at offset of the word in `data` */
type Read = (data: Uint8Array, at: number) => unknown;

const wordAt = (data: Uint8Array, at: number) => bytesToBigint(data.subarray(at, at + WORD));

function dynamicAt(data: Uint8Array, at: number): Uint8Array {
  const start = Number(wordAt(data, at));
  const length = Number(wordAt(data, start));
  return data.subarray(start + WORD, start + WORD + Math.min(length, TEXT_BYTES_MAX));
}

const READERS: Readonly<Record<string, Read>> = {
  uint256: wordAt,
  uint: wordAt,
  int256: (data, at) => BigInt.asIntN(256, wordAt(data, at)),
  int: (data, at) => BigInt.asIntN(256, wordAt(data, at)),
  bool: (data, at) => wordAt(data, at) !== 0n,
  address: (data, at) => checksumAddress(addressFromWord(wordAt(data, at))),
  string: (data, at) => Buffer.from(dynamicAt(data, at)).toString(),
  bytes: (data, at) => bytesToHex(dynamicAt(data, at)),
  ...Object.fromEntries(
    Array.from({ length: WORD }, (_, i) => [
      `bytes${i + 1}`,
      (data: Uint8Array, at: number) => bytesToHex(data.subarray(at, at + i + 1)),
    ]),
  ),
};

/**
 * Reads what a call of `CONSOLE_ADDRESS` with some input prints, as `util.format` writes its arguments; undefined for a function that
 * console.sol has not. The table of functions is made at the first call: 700 hashes.
 */
export function createConsoleReader(): (input: Uint8Array) => string | undefined {
  /** Argument types by selector. */
  let signatures: ReadonlyMap<string, readonly string[]> | undefined;
  return (input) => {
    signatures ??= new Map(argumentLists().map((types) => [selectorOf(types), types]));
    const types = signatures.get(bytesToHex(input.subarray(0, 4)));
    if (types === undefined) return undefined;
    const data = input.subarray(4);
    const values = types.map((type, i) => READERS[type]!(data, i * WORD));
    // Without the `n` that `format` writes after a bigint.
    return format(...values.map((value) => (typeof value === "bigint" ? value.toString() : value)));
  };
}

/** Every signature of console.sol. Old versions hashed `uint` and `int`, which no contract's interface has. */
function argumentLists(): readonly (readonly string[])[] {
  let mixed: (readonly string[])[] = [[]];
  const lists: (readonly string[])[] = [[]];
  for (let length = 1; length <= 4; length++) {
    mixed = mixed.flatMap((types) => MIXED.map((type) => [...types, type]));
    lists.push(...mixed);
  }
  const old = lists.map((types) => types.map((type) => (type === "uint256" ? "uint" : type)));
  const others = Object.keys(READERS).map((type) => [type]);
  return [...lists, ...old, ...others, ["string", "int256"], ["string", "int"]];
}

function selectorOf(types: readonly string[]): string {
  return bytesToHex(keccak256(Buffer.from(`log(${types.join()})`)).subarray(0, 4));
}

const CONSOLE_BYTES = Buffer.from("console.log");

/** True for code that may print. */
export function mayPrint(code: Uint8Array): boolean {
  return Buffer.from(code.buffer, code.byteOffset, code.length).includes(CONSOLE_BYTES);
}
