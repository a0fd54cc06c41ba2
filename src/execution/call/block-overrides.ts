import { NodeError } from "../../errors.ts";
import type { BlockContext } from "../../evm/evm.ts";
import type { ChainConfig } from "../../params/chain-config.ts";
import { hardforkAt } from "../../params/hardfork-at.ts";
import type { Address } from "../../primitives/address.ts";
import type { Hash } from "../../primitives/hash.ts";
import type { Withdrawal } from "../../types/block.ts";

/** Replaces parts of the block environment of a call, geth's `BlockOverrides`. */
export type BlockOverrides = {
  /** Of any size: opcodes see the low 256 bits of the number and all of the time, forks what a chain can have of them. */
  readonly number?: bigint;
  readonly time?: bigint;
  readonly gasLimit?: bigint;
  readonly feeRecipient?: Address;
  readonly prevRandao?: Hash;
  readonly baseFeePerGas?: bigint;
  readonly blobBaseFee?: bigint;
  /** Counts only in eth_simulateV1, before the merge: after it, none has an effect. */
  readonly difficulty?: bigint;
  /** Only eth_simulateV1 knows these two. */
  readonly beaconRoot?: Hash;
  readonly withdrawals?: readonly Withdrawal[];
};

/** An override that this method does not know. The message is geth's. */
export class InvalidBlockOverridesError extends NodeError {
  readonly code = "CALL_INVALID_BLOCK_OVERRIDES";
}

/** `block` with what the caller pretends; the fork follows number and time. BLOCKHASH keeps to the real chain before `block`. */
export function overrideBlock(
  block: BlockContext,
  overrides: BlockOverrides,
  config: ChainConfig,
): BlockContext {
  const number = overrides.number === undefined ? block.number : safeNumber(overrides.number);
  const timestamp = overrides.time === undefined ? block.timestamp : safeNumber(overrides.time);
  return {
    ...(overrides.number !== undefined && { numberWord: overrides.number }),
    ...(overrides.time !== undefined && { timestampWord: overrides.time }),
    hardfork: hardforkAt(config, { number, timestamp, difficulty: block.difficulty }),
    chainId: block.chainId,
    number,
    timestamp,
    coinbase: overrides.feeRecipient ?? block.coinbase,
    gasLimit: overrides.gasLimit ?? block.gasLimit,
    difficulty: block.difficulty,
    prevRandao: overrides.prevRandao ?? block.prevRandao,
    baseFeePerGas: overrides.baseFeePerGas ?? block.baseFeePerGas,
    blobBaseFee: overrides.blobBaseFee ?? block.blobBaseFee,
    blockHash: (wanted) => (wanted < block.number ? block.blockHash(wanted) : undefined),
  };
}

/** `value`, or 2^53 − 1 where it is greater: no chain has a block or a fork beyond. */
function safeNumber(value: bigint): number {
  return value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(value);
}

/** @throws InvalidBlockOverridesError for what only eth_simulateV1 takes. */
export function assertCallOverrides(overrides: BlockOverrides): void {
  for (const name of ["beaconRoot", "withdrawals"] as const) {
    if (overrides[name] !== undefined) {
      throw new InvalidBlockOverridesError(
        `block override "${name}" is not supported for this RPC method`,
        { name },
      );
    }
  }
}
