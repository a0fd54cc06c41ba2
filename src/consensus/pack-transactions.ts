import { isTransactionRejection } from "../execution/block/block-execution.ts";
import type { BlockBuilder } from "../execution/block/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import { blobParamsAt } from "../params/blob-schedule.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import { blobBaseFee } from "../params/fees.ts";
import { BLOCK_RLP_SIZE_MAX, TX_BASE_GAS, TX_GAS_LIMIT_MAX } from "../params/gas.ts";
import { hardforkAt } from "../params/hardfork-at.ts";
import { isAtLeast } from "../params/hardforks.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
import { ExecutorFailure } from "./set-aside.ts";

export type PackingLimits = {
  /** Encoded transactions together, with what an engine puts around each. */
  readonly bytesMax: number;
  readonly timeMs: number;
  /** Least tip per gas, in wei. */
  readonly minimumTip: bigint;
};

/** EIP-7934's 8 MiB less room for the header, and a time in which a full pool cannot hold up the blocks. */
export const PACKING_LIMITS = { bytesMax: BLOCK_RLP_SIZE_MAX - 1_000_000, timeMs: 500 };

/** Bytes an engine adds to each element of a block. */
export const TX_FRAME_BYTES = 4;

export type PackingModules = {
  readonly mempool: Pick<Mempool, "pendingForBlock">;
  readonly config: ChainConfig;
  /** Transactions to leave out. */
  readonly isExcluded?: (hash: Hash) => boolean;
};

/**
 * Puts the pool's best transactions into `builder`, in the order of geth's miner, until gas, bytes or time end.
 *
 * A transaction that does not fit closes its account for this block; one whose nonce was used meanwhile is skipped.
 *
 * @returns the transactions of the block, in order
 * @throws ExecutorFailure when executing one fails in any other way than by a rejection; `builder` is then unusable
 */
export function packTransactions(
  builder: BlockBuilder,
  limits: PackingLimits,
  { mempool, config, isExcluded = () => false }: PackingModules,
): readonly Transaction[] {
  const packed: Transaction[] = [];
  const deadline = performance.now() + limits.timeMs;
  const { header } = builder;
  const blobParams = blobParamsAt(config, header.timestamp);
  const isOsaka = isAtLeast(hardforkAt(config, header), "osaka");
  const candidates = mempool.pendingForBlock({
    baseFee: header.baseFeePerGas ?? 0n,
    minimumTip: limits.minimumTip,
    txGasLimitMax: isOsaka ? TX_GAS_LIMIT_MAX : undefined,
    blobBaseFee:
      blobParams && header.excessBlobGas !== undefined
        ? blobBaseFee(header.excessBlobGas, blobParams)
        : undefined,
  });
  let bytes = 0;
  for (let best = candidates.peek(); best; best = candidates.peek()) {
    if (builder.gasLeft() < TX_BASE_GAS || performance.now() > deadline) break;
    const size = best.tx.raw.length + TX_FRAME_BYTES;
    if (bytes + size > limits.bytesMax || isExcluded(best.tx.hash)) {
      candidates.skipAccount();
      continue;
    }
    try {
      builder.add(best.tx, best.sender);
    } catch (error) {
      if (!isTransactionRejection(error)) throw new ExecutorFailure(best.tx, error);
      if (error.code === "TX_NONCE_MISMATCH_TOO_LOW") candidates.next();
      else candidates.skipAccount();
      continue;
    }
    packed.push(best.tx);
    bytes += size;
    candidates.next();
  }
  return packed;
}
