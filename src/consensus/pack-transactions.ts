import { NodeError } from "../errors.ts";
import type { BlockBuilder } from "../execution/build-block.ts";
import type { Mempool } from "../mempool/mempool.ts";
import type { Transaction } from "../types/transaction/transaction.ts";

/** Below this no transaction fits: the cheapest one costs 21,000 gas. */
const GAS_MIN = 21_000n;

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
  mempool: Pick<Mempool, "pendingForBlock">,
  limits: { readonly bytesMax: number; readonly timeMs: number },
): readonly Transaction[] {
  const packed: Transaction[] = [];
  const deadline = performance.now() + limits.timeMs;
  const waiting = mempool.pendingForBlock(builder.header.baseFeePerGas ?? 0n);
  let bytes = 0;
  for (let next = waiting.peek(); next; next = waiting.peek()) {
    if (builder.gasLeft < GAS_MIN || performance.now() > deadline) break;
    // Four bytes a transaction for what an engine puts around it.
    const size = next.tx.raw.length + 4;
    if (bytes + size > limits.bytesMax) break;
    try {
      builder.add(next.tx, next.sender);
    } catch (error) {
      if (!(error instanceof NodeError)) throw error;
      if (error.code === "TX_NONCE_MISMATCH_TOO_LOW") waiting.shift();
      else waiting.skipAccount();
      continue;
    }
    packed.push(next.tx);
    bytes += size;
    waiting.shift();
  }
  return packed;
}
