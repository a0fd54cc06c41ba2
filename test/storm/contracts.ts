import type { Address } from "../../src/base/primitives/address.ts";
import { type Hex, hexToBytes } from "../../src/base/primitives/hex.ts";
import { createAddress } from "../../src/evm/machine/contract-creation.ts";
import { assemble, deploymentOf } from "../support/assembler.ts";
import { contract } from "../support/contracts.ts";

/** Counts its calls in slot 0, stores the second word of its input in the slot of the first, and logs the count with the slot as topic. */
export const RECORDER_CODE = assemble(`
  PUSH0 SLOAD PUSH1 01 ADD DUP1 PUSH0 SSTORE PUSH0 MSTORE
  PUSH1 20 CALLDATALOAD PUSH0 CALLDATALOAD SSTORE
  PUSH0 CALLDATALOAD PUSH1 20 PUSH0 LOG1 STOP`);

/** Runs a loop as often as its input says, at 26 gas a round, and counts its calls in slot 0: some calls make it hot enough to be compiled. */
export const SPINNER_CODE = assemble(`
  PUSH0 CALLDATALOAD JUMPDEST PUSH1 01 SWAP1 SUB DUP1 PUSH1 02 JUMPI
  PUSH0 SLOAD PUSH1 01 ADD PUSH0 SSTORE STOP`);

/** All tokens, which belong to the deployer at first. */
export const TOKEN_SUPPLY = 10n ** 24n;
const TRANSFER_SELECTOR = "a9059cbb";
const BALANCE_SELECTOR = "70a08231";

export const word = (value: bigint): string => value.toString(16).padStart(64, "0");
const addressWord = (address: Address): string => address.slice(2).padStart(64, "0");

/** The contracts of a home: the first transactions of one account create them. */
export type Contracts = {
  readonly recorder: Address;
  readonly token: Address;
  readonly spinner: Address;
};

/** Init code of the first transactions of the deployer, in the order of their nonces. */
export const DEPLOYMENTS: readonly Hex[] = [
  deploymentOf(RECORDER_CODE),
  `${contract("Token").bytecode}${word(TOKEN_SUPPLY)}`,
  deploymentOf(SPINNER_CODE),
];

export function contractsOf(deployer: Address): Contracts {
  return {
    recorder: createAddress(deployer, 0n),
    token: createAddress(deployer, 1n),
    spinner: createAddress(deployer, 2n),
  };
}

export const recordInput = (slot: bigint, value: bigint): Hex => `0x${word(slot)}${word(value)}`;
export const spinInput = (rounds: bigint): Hex => `0x${word(rounds)}`;
export const transferInput = (to: Address, value: bigint): Hex =>
  `0x${TRANSFER_SELECTOR}${addressWord(to)}${word(value)}`;
export const balanceInput = (owner: Address): Hex => `0x${BALANCE_SELECTOR}${addressWord(owner)}`;

/** The words of an input, after `skip` bytes of selector. */
export function inputWords(input: Hex, skip = 0): readonly bigint[] {
  const words = input.slice(2 + 2 * skip).match(/.{64}/g) ?? [];
  return words.map((each) => BigInt(`0x${each}`));
}

/** Code of `size` bytes that no other number has. */
export function bigCode(size: number, mark: number): Hex {
  const unit = `00${mark.toString(16).padStart(8, "0")}`;
  return `0x${unit.repeat(Math.ceil((2 * size) / unit.length)).slice(0, 2 * size)}`;
}

export const bigDeployment = (size: number, mark: number): Hex => deploymentOf(bigCode(size, mark));

/** What init code of `deploymentOf` returns; undefined for other init code. */
export function deployedCode(initCode: Hex): Hex | undefined {
  const prefix = deploymentOf("0x");
  // The size is in the third to sixth digit.
  const isOfForm = initCode.startsWith("0x61") && initCode.slice(8, prefix.length) === prefix.slice(8);
  return isOfForm ? (`0x${initCode.slice(prefix.length)}` as Hex) : undefined;
}

export const inputBytes = (input: Hex): Uint8Array => hexToBytes(input);
