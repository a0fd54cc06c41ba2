import type { ChainConfig } from "./chain-config.ts";
import { CODE_SIZE_MAX, TX_GAS_LIMIT_MAX } from "./gas.ts";
import { type Hardfork, isAtLeast } from "./hardforks.ts";

/** Limits of the protocol that a genesis can set otherwise, or that a dev chain lifts. */
export type ExecutionLimits = Pick<ChainConfig, "codeSizeMax" | "noTxGasLimit" | "devRules">;

/** EIP-170: most bytes of a contract. */
export function codeSizeMaxOf({ codeSizeMax }: ExecutionLimits): number {
  return codeSizeMax ?? CODE_SIZE_MAX;
}

/** EIP-3860: most bytes of the code that creates one; twice as many, however many those are. */
export function initCodeSizeMaxOf(limits: ExecutionLimits): number {
  return 2 * codeSizeMaxOf(limits);
}

/** EIP-7825: most gas of one transaction; undefined: as much as a block has. */
export function txGasLimitMaxOf(hardfork: Hardfork, { noTxGasLimit }: ExecutionLimits): bigint | undefined {
  return isAtLeast(hardfork, "osaka") && noTxGasLimit !== true ? TX_GAS_LIMIT_MAX : undefined;
}
