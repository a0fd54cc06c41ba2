import type { Address } from "../../../src/base/primitives/address.ts";
import { bytesToHex, type Hex } from "../../../src/base/primitives/hex.ts";
import { keccak256 } from "../../../src/base/primitives/keccak.ts";
import { assemble } from "../../support/assembler.ts";
import type { Plan } from "../scenario/plan.ts";

export type Predeployed = { readonly address: Address; readonly code: Hex };

const addressOf = (name: string) => bytesToHex(keccak256(Buffer.from(name)).subarray(12)) as Address;

/**
 * Counts the calls of each caller in a slot of its own, and all in slot 0. The call names the count that the caller expects, and fails for another one:
 * it reads what was written before, and what it has written itself goes when it fails. Each count is in a log, under the caller.
 */
export const LEDGER: Predeployed = {
  address: addressOf("ledger"),
  code: assemble(`
    PUSH1 00 CALLDATALOAD CALLER SLOAD DUP1 SWAP2 EQ PUSH1 11 JUMPI CALLER CALLER SSTORE PUSH0 PUSH0 REVERT
    JUMPDEST PUSH1 01 ADD DUP1 CALLER SSTORE
    PUSH0 SLOAD PUSH1 01 ADD PUSH0 SSTORE
    PUSH0 MSTORE CALLER PUSH1 20 PUSH0 LOG1 STOP`),
};

/** Passes its data on to the ledger, and goes on whatever comes of it: the ledger counts its calls, and takes back what a failed one has written. */
export const RELAY: Predeployed = {
  address: addressOf("relay"),
  code: assemble(`
    PUSH0 CALLDATALOAD PUSH0 MSTORE
    PUSH0 PUSH0 PUSH1 20 PUSH0 PUSH0 PUSH20 ${LEDGER.address} GAS CALL POP STOP`),
};

/** Logs time and number of its block: what was executed for another block is seen. */
export const CLOCK: Predeployed = {
  address: addressOf("clock"),
  code: assemble("TIMESTAMP PUSH0 MSTORE NUMBER PUSH1 20 MSTORE PUSH1 40 PUSH0 LOG0 STOP"),
};

/** The contract that `forkProbe` gives its code. */
export const FORK_PROBE: Pick<Predeployed, "address"> = { address: addressOf("fork probe") };

/** Succeeds from `fork` on, whose instruction it has: CLZ (EIP-7939) of 0, or the slot number (EIP-7843). */
export function forkProbe(fork: Plan["fork"]): Predeployed {
  return { ...FORK_PROBE, code: fork === "amsterdam" ? "0x4b5f5260205ff3" : "0x5f1e5f5260205ff3" };
}
