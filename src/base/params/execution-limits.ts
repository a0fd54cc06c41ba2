import type { ChainConfig } from "./chain-config.ts";
import {
  AMSTERDAM_BLOCK_GAS_LIMIT_MIN,
  CODE_SIZE_MAX,
  CODE_SIZE_MAX_AMSTERDAM,
  TX_GAS_LIMIT_MAX,
  TX_TOTAL_GAS_LIMIT_MAX,
} from "./gas.ts";
import { type Hardfork, RULES_AT } from "./hardforks.ts";

/** Protocol limits that a genesis can change, or that a dev chain lifts. */
export type ExecutionLimits = Pick<ChainConfig, "codeSizeMax" | "noTxGasLimit" | "devRules">;

/** EIP-170, EIP-7954: maximum bytes of a contract. */
export function codeSizeMaxOf(hardfork: Hardfork, { codeSizeMax }: ExecutionLimits): number {
  return codeSizeMax ?? (RULES_AT[hardfork].amsterdam ? CODE_SIZE_MAX_AMSTERDAM : CODE_SIZE_MAX);
}

/** EIP-3860: maximum bytes of init code, always twice those of a contract. */
export function initCodeSizeMaxOf(hardfork: Hardfork, limits: ExecutionLimits): number {
  return 2 * codeSizeMaxOf(hardfork, limits);
}

/** EIP-7825, from Amsterdam EIP-8037: maximum gas of one transaction; undefined: the block's gas limit. */
export function txGasLimitMaxOf(hardfork: Hardfork, { noTxGasLimit }: ExecutionLimits): bigint | undefined {
  if (noTxGasLimit === true || !RULES_AT[hardfork].osaka) return undefined;
  return RULES_AT[hardfork].amsterdam ? TX_TOTAL_GAS_LIMIT_MAX : TX_GAS_LIMIT_MAX;
}

/**
 * EIP-8037: maximum execution gas of one transaction from Amsterdam on; gas above it pays only for state growth. undefined: all of it is
 * execution gas.
 */
export function executionGasMaxOf(hardfork: Hardfork, { noTxGasLimit }: ExecutionLimits): bigint | undefined {
  return RULES_AT[hardfork].amsterdam && noTxGasLimit !== true ? TX_GAS_LIMIT_MAX : undefined;
}

/** Why this gas limit makes Amsterdam blocks invalid: their access list needs room (EIP-7928). undefined: it does not */
export function gasLimitFault(
  { amsterdamTime }: Pick<ChainConfig, "amsterdamTime">,
  gasLimit: bigint,
): string | undefined {
  if (amsterdamTime === undefined || gasLimit >= AMSTERDAM_BLOCK_GAS_LIMIT_MIN) return undefined;
  return `${gasLimit} is below ${AMSTERDAM_BLOCK_GAS_LIMIT_MIN}, the least with which a block of Amsterdam is valid`;
}
