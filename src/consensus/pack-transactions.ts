import { isTransactionRejection } from "../execution/block/block-execution.ts";
import type { BlockBuilder } from "../execution/block/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import { blobParamsAt } from "../params/blob-schedule.ts";
import type { ChainConfig } from "../params/chain-config.ts";
import { blobBaseFee } from "../params/fees.ts";
import { BLOCK_RLP_SIZE_MAX, TX_BASE_GAS, TX_GAS_LIMIT_MAX } from "../params/gas.ts";
import { hardforkAt } from "../params/hardfork-at.ts";
import { isAtLeast } from "../params/hardforks.ts";
import type { Transaction } from "../types/transaction/transaction.ts";

export type PackingLimits = {
  /** Encoded transactions together, with what an engine puts around each. */
  readonly bytesMax: number;
  readonly timeMs: number;
  /** Least tip per gas, in wei. */
  readonly minimumTip: bigint;
};

/** EIP-7934's 8 MiB less room for the header, and a time in which a full pool cannot hold up the blocks. */
export const PACKING_LIMITS = { bytesMax: BLOCK_RLP_SIZE_MAX - 1_000_000, timeMs: 500 };

/** What an engine puts around one transaction, in bytes. */
const TX_FRAME_BYTES = 4;

/**
 * Puts the pool's best transactions into `builder`, in the order of geth's miner, until gas, bytes or time end.
 *
 * A transaction that does not fit closes its account for this block, but one whose nonce was used meanwhile only gives
 * way to the account's next.
 *
 * @returns what went in, in order
 */
export function packTransactions(
  builder: BlockBuilder,
  limits: PackingLimits,
  { mempool, config }: { readonly mempool: Mempool; readonly config: ChainConfig },
): readonly Transaction[] {
  const packed: Transaction[] = [];
  const deadline = performance.now() + limits.timeMs;
  const { header } = builder;
  const blobParams = blobParamsAt(config, header.timestamp);
  const isOsaka = isAtLeast(hardforkAt(config, header), "osaka");
  const waiting = mempool.pendingForBlock({
    baseFee: header.baseFeePerGas ?? 0n,
    minimumTip: limits.minimumTip,
    txGasLimitMax: isOsaka ? TX_GAS_LIMIT_MAX : undefined,
    blobBaseFee:
      blobParams && header.excessBlobGas !== undefined
        ? blobBaseFee(header.excessBlobGas, blobParams)
        : undefined,
  });
  let bytes = 0;
  for (let best = waiting.peek(); best; best = waiting.peek()) {
    if (builder.gasLeft() < TX_BASE_GAS || performance.now() > deadline) break;
    const size = best.tx.raw.length + TX_FRAME_BYTES;
    if (bytes + size > limits.bytesMax) break;
    try {
      builder.add(best.tx, best.sender);
    } catch (error) {
      if (!isTransactionRejection(error)) throw error;
      if (error.code === "TX_NONCE_MISMATCH_TOO_LOW") waiting.next();
      else waiting.skipAccount();
      continue;
    }
    packed.push(best.tx);
    bytes += size;
    waiting.next();
  }
  return packed;
}
