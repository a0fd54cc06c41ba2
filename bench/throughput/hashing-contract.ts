import type { Address } from "../../src/base/primitives/address.ts";

/**
 * Code that hashes 32 bytes as often as `pushRounds` says, and writes what comes out to eight slots. 300 rounds take some 230,000 gas.
 * @param pushRounds opcodes that leave the number of rounds on the stack and take 3 bytes, which the jump counts on
 */
export function hashingCode(pushRounds: string): string {
  return [
    pushRounds,
    "5b", // JUMPDEST at 3
    "6020600020600052", // memory 0 = keccak256(memory 0)
    "6001900380600357", // counter − 1, again while it is not 0
    ...Array.from({ length: 8 }, (_, slot) => `60005160${slot.toString(16).padStart(2, "0")}55`),
    "00",
  ].join("");
}

/** Where the contract number `index` is. */
export function hashingContractAt(index: number): Address {
  return `0x${(0xbee0000 + index).toString(16).padStart(40, "0")}` as Address;
}
