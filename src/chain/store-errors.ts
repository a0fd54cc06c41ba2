import { NodeError } from "../base/errors.ts";
import type { Hash } from "../base/primitives/hash.ts";

/** After a failed write memory and disk differ, and nothing is written any more. Opening the store again repairs it. */
export class StorePoisonedError extends NodeError {
  readonly code = "STORE_POISONED";
}

/** A large index was opened before its check (ADR 142): nothing is written on what nobody has checked. */
export class StoreUncheckedError extends NodeError {
  readonly code = "STORE_UNCHECKED";
  constructor() {
    super("index is being checked: the chain is not changed until that has ended, try again later");
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

/** The state is older than the oldest one that is served. */
export class StatePrunedError extends NodeError {
  readonly code = "BLOCK_STATE_PRUNED";
  constructor(details: { readonly number: number; readonly base: number; readonly root: Hash }) {
    // geth's text, with the root as it prints it.
    super(`historical state ${details.root.slice(2)} is not available`, details);
  }
}

/** Too little space is left to add a block safely. Reads go on, and so do appends once there is space. */
export class DiskFullError extends NodeError {
  readonly code = "STORE_DISK_FULL";
  constructor(details: { readonly freeBytes: number; readonly neededBytes: number }) {
    super(`${details.freeBytes} bytes of disk are left, ${details.neededBytes} are needed`, details);
  }
}

/** The index describes other blocks than the log holds: it is worth nothing and can be made anew. */
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

/** The changes of a block, or the values of a state, do not have the state root in its header: one of the two is damaged. */
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
