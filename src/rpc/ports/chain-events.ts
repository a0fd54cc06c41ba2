import type { PooledTransaction } from "../../mempool/pool.ts";
import type { ExecutedBlock } from "../../types/block.ts";

/** What happens to chain and pool. Whatever an event names can be read when it comes. Each `on…` returns how to stop it. */
export interface ChainEvents {
  /** A block became the head. */
  onBlock(listener: (executed: ExecutedBlock) => void): () => void;
  /** Blocks, ascending, are no longer part of the chain. */
  onRollback(listener: (removed: readonly ExecutedBlock[]) => void): () => void;
  /** Transactions became executable. */
  onPending(listener: (entries: readonly PooledTransaction[]) => void): () => void;
}
