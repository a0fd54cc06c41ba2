import type { BlockStore } from "./store/block-store.ts";

/** Removed at a time: listeners get blocks whole, and each removal syncs the block log. */
const PART_BLOCKS = 1_024;
const PART_TRANSACTIONS = 4_096;

/** The block to remove the newest ones back to, on the way from `head` to block `number`: what is removed at a time fits into memory. */
export function nextRollback(
  store: Pick<BlockStore, "block">,
  head: number,
  number: number,
): number {
  let last = head;
  for (let transactions = 0; last > number && head - last < PART_BLOCKS; last--) {
    transactions += store.block(last)!.block.transactions.length;
    if (transactions > PART_TRANSACTIONS && last < head) break;
  }
  return last;
}
