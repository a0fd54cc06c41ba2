import { NodeError } from "../base/errors.ts";
import type { Hash } from "../base/primitives/hash.ts";

/** After a failed write, memory and disk differ and the store stops writing. Reopening the store repairs it. */
export class StorePoisonedError extends NodeError {
  readonly code = "STORE_POISONED";
}

/** The node is still checking a large index (ADR 142) and does not write until the check has passed. */
export class StoreUncheckedError extends NodeError {
  readonly code = "STORE_UNCHECKED";
  constructor() {
    super("the index is being checked, and the chain cannot change until the check ends; try again later");
  }
}

/** The block, or the state after it, is older than the first block of the log. */
export class BlockPrunedError extends NodeError {
  readonly code = "BLOCK_PRUNED";
  constructor(details: { readonly number: number; readonly base: number }) {
    // geth's text, which clients look for (EIP-4444).
    super("pruned history unavailable", details);
  }
}

/** The node no longer stores this state. */
export class StatePrunedError extends NodeError {
  readonly code = "BLOCK_STATE_PRUNED";
  constructor(details: { readonly number: number; readonly base: number; readonly root: Hash }) {
    // geth's text, with the root as it prints it.
    super(`historical state ${details.root.slice(2)} is not available`, details);
  }
}

/** Too little disk space is left to add a block safely. Reads continue, and appends resume once there is space. */
export class DiskFullError extends NodeError {
  readonly code = "STORE_DISK_FULL";
  constructor(details: { readonly freeBytes: number; readonly neededBytes: number }) {
    super(`${details.freeBytes} bytes of disk are left, ${details.neededBytes} are needed`, details);
  }
}

/** The index does not match the block log and has to be rebuilt. */
export class IndexMismatchError extends NodeError {
  readonly code = "STORE_INDEX_MISMATCH";
}

/** Of errors that note damage as they are made: the next start makes the index anew from the log. */
const INDEX_DAMAGE: ReadonlySet<unknown> = new Set(["STORE_CORRUPT_INDEX", "STORE_CORRUPT_ROW", "STORE_MISSING_ROW"]);

/** Whether `error`, or what caused it, is damage of the index, which a restart repairs. */
export function isIndexDamage(error: unknown): boolean {
  for (let each = error; each instanceof Error; each = each.cause) {
    if (each instanceof NodeError && INDEX_DAMAGE.has(each.code)) return true;
  }
  return false;
}

/** A block's changes, or the values of a state, do not match the state root in the header; one of them is damaged. */
export class StateRootMismatchError extends NodeError {
  readonly code = "STORE_STATE_ROOT_MISMATCH";
  constructor(details: {
    readonly number: number;
    readonly computed: Hash;
    readonly stored: Hash;
  }) {
    const { number, computed, stored } = details;
    super(`state of block ${number} has root ${computed}, its header says ${stored}`, details);
  }
}
