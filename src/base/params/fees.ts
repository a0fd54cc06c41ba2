import { invariant } from "../errors.ts";
import type { BlobParams, ChainConfig } from "./chain-config.ts";
import { BLOCK_GAS_LIMIT_BOUND_DIVISOR, BLOCK_GAS_LIMIT_MIN, GAS_PER_BLOB } from "./gas.ts";

/** Base fee of the first London block, in wei. */
export const INITIAL_BASE_FEE = 1_000_000_000n;
/** EIP-1559: the gas target is the limit divided by this. */
const ELASTICITY_MULTIPLIER = 2n;
/** EIP-1559: the base fee changes by at most 1/8 per block. */
const BASE_FEE_CHANGE_DENOMINATOR = 8n;
/** EIP-4844, in wei. */
const MIN_BLOB_BASE_FEE = 1n;
/** EIP-7918: execution gas whose cost is the minimum cost of a blob. */
const BLOB_BASE_COST = 8_192n;

type BaseFeeParent = {
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Absent before London. */
  readonly baseFeePerGas?: bigint;
};

/** Base fee of the block after `parent`, in wei (EIP-1559); the initial one if `parent` is before London. Always 0 on a chain without a base fee. */
export function nextBaseFee(parent: BaseFeeParent, { zeroBaseFee }: Pick<ChainConfig, "zeroBaseFee">): bigint {
  if (zeroBaseFee) return 0n;
  const baseFee = parent.baseFeePerGas;
  if (baseFee === undefined) return INITIAL_BASE_FEE;
  const target = parent.gasLimit / ELASTICITY_MULTIPLIER;
  const { gasUsed } = parent;
  if (gasUsed === target) return baseFee;
  if (gasUsed > target) {
    const delta = (baseFee * (gasUsed - target)) / target / BASE_FEE_CHANGE_DENOMINATOR;
    return baseFee + (delta > 1n ? delta : 1n);
  }
  // The delta is at most an eighth of the fee, so this never falls below 0.
  return baseFee - (baseFee * (target - gasUsed)) / target / BASE_FEE_CHANGE_DENOMINATOR;
}

/**
 * The gas limit from which the next block's limit is derived. It doubles at the first London block, so that the gas target equals the former
 * limit (EIP-1559).
 */
export function gasLimitBase(
  parent: { readonly number: number; readonly gasLimit: bigint },
  { londonBlock }: Pick<ChainConfig, "londonBlock">,
): bigint {
  return parent.number + 1 === londonBlock ? parent.gasLimit * ELASTICITY_MULTIPLIER : parent.gasLimit;
}

/** The gas limit of the block after one with `parentGasLimit`, as close to `desired` as one block may move. */
export function nextGasLimit(parentGasLimit: bigint, desired: bigint): bigint {
  const step = parentGasLimit / BLOCK_GAS_LIMIT_BOUND_DIVISOR - 1n;
  const target = desired < BLOCK_GAS_LIMIT_MIN ? BLOCK_GAS_LIMIT_MIN : desired;
  if (parentGasLimit < target) {
    return parentGasLimit + step < target ? parentGasLimit + step : target;
  }
  return parentGasLimit - step > target ? parentGasLimit - step : target;
}

/** Blob base fee: wei per unit of blob gas at `excessBlobGas` (EIP-4844). */
export function blobBaseFee(excessBlobGas: bigint, params: BlobParams): bigint {
  return fakeExponential(MIN_BLOB_BASE_FEE, excessBlobGas, params.baseFeeUpdateFraction);
}

/** The inputs of the next excess blob gas; absent fields count as 0. */
type ExcessBlobGasParent = {
  readonly excessBlobGas?: bigint;
  readonly blobGasUsed?: bigint;
  readonly baseFeePerGas?: bigint;
};

/**
 * Excess blob gas of the block after `parent` (EIP-4844, EIP-7918 from Osaka on).
 * @param params in force at the new block's time, also for the parent's blob fee
 */
export function nextExcessBlobGas(parent: ExcessBlobGasParent, params: BlobParams, isOsaka: boolean): bigint {
  const parentExcess = parent.excessBlobGas ?? 0n;
  const used = parent.blobGasUsed ?? 0n;
  const excess = parentExcess + used;
  const target = BigInt(params.target) * GAS_PER_BLOB;
  if (excess < target) return 0n;
  if (isOsaka) {
    const reserve = BLOB_BASE_COST * (parent.baseFeePerGas ?? 0n);
    if (reserve > GAS_PER_BLOB * blobBaseFee(parentExcess, params)) {
      // While execution gas dominates the blob base fee, the excess must not fall (EIP-7918).
      return parentExcess + (used * BigInt(params.max - params.target)) / BigInt(params.max);
    }
  }
  return excess - target;
}

/** factor × e^(numerator / denominator), rounded down as EIP-4844 prescribes. */
export function fakeExponential(factor: bigint, numerator: bigint, denominator: bigint): bigint {
  invariant(denominator > 0n, "the blob base fee update fraction is positive");
  let sum = 0n;
  let term = factor * denominator;
  for (let i = 1n; term > 0n; i++) {
    sum += term;
    term = (term * numerator) / denominator / i;
  }
  return sum / denominator;
}
