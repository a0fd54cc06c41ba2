import type { BlockBuilder, SealedBlock } from "../execution/block/build-block.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
import { type PackingLimits, type PackingModules, packTransactions } from "./pack-transactions.ts";
import { ExecutorFailure, type SetAside } from "./set-aside.ts";

export type AssembledBlock = {
  readonly sealed: SealedBlock;
  readonly packed: readonly Transaction[];
};

/**
 * Builds a block from the pool. A transaction that crashes the executor is set aside and the block is built again without it;
 * all builds share `limits.timeMs`, and the last one is empty.
 * @param begin begins a block on the head
 * @throws InvalidBlockError when not even the empty block is valid
 */
export function assembleBlock(
  begin: () => BlockBuilder,
  limits: PackingLimits,
  modules: Omit<PackingModules, "isExcluded"> & { readonly setAside: SetAside },
): AssembledBlock {
  const excluded = new Set<Hash>();
  const isExcluded = (hash: Hash) => excluded.has(hash);
  const deadline = performance.now() + limits.timeMs;
  for (let left = limits.timeMs; left > 0; left = deadline - performance.now()) {
    const builder = begin();
    try {
      const packed = packTransactions(
        builder,
        { ...limits, timeMs: left },
        { ...modules, isExcluded },
      );
      return { sealed: builder.seal(), packed };
    } catch (error) {
      if (!(error instanceof ExecutorFailure)) throw error;
      excluded.add(error.transaction.hash);
      modules.setAside(error);
    }
  }
  return { sealed: begin().seal(), packed: [] };
}
