import type { BlockBuilder, SealedBlock } from "../execution/block/build-block.ts";
import type { Hash } from "../primitives/hash.ts";
import type { Transaction } from "../types/transaction/transaction.ts";
import { Packing, type PackingLimits, type PackingModules } from "./pack-transactions.ts";
import { ExecutorFailure, type SetAside } from "./set-aside.ts";

export type AssembledBlock = {
  readonly sealed: SealedBlock;
  readonly packed: readonly Transaction[];
};

/** A block of which a part is packed. */
export type BegunBlock = { readonly builder: BlockBuilder; readonly packing: Packing };

export function beginPacking(
  begin: () => BlockBuilder,
  limits: Omit<PackingLimits, "timeMs">,
  modules: PackingModules,
): BegunBlock {
  const builder = begin();
  return { builder, packing: new Packing(builder, limits, modules) };
}

/**
 * Builds a block from the pool. A transaction that crashes the executor is set aside and the block is built again without it;
 * all builds share `limits.timeMs`, and the last one is empty.
 * @param begin begins a block on the head
 * @param begun such a block of which a part is packed; left where it is stale
 * @throws InvalidBlockError when not even the empty block is valid
 */
export function assembleBlock(
  begin: () => BlockBuilder,
  limits: PackingLimits,
  modules: Omit<PackingModules, "isExcluded"> & { readonly setAside: SetAside },
  begun?: BegunBlock,
): AssembledBlock {
  const excluded = new Set<Hash>();
  const isExcluded = (hash: Hash) => excluded.has(hash);
  const deadline = performance.now() + limits.timeMs;
  let first = begun;
  for (let left = limits.timeMs; left > 0; left = deadline - performance.now()) {
    const { builder, packing } = first ?? beginPacking(begin, limits, { ...modules, isExcluded });
    first = undefined;
    try {
      packing.run(left);
      if (!packing.isStale) return { sealed: builder.seal(), packed: packing.packed };
    } catch (error) {
      if (!(error instanceof ExecutorFailure)) throw error;
      excluded.add(error.transaction.hash);
      modules.setAside(error);
    }
  }
  return { sealed: begin().seal(), packed: [] };
}
