import type { Address } from "../primitives/address.ts";
import type { Entry } from "./entry.ts";
import { SLOT_SIZE } from "./options.ts";

/** Slots of 32 KiB that a transaction takes. */
export function slotsOf({ tx }: Entry): number {
  return Math.ceil(tx.raw.length / SLOT_SIZE);
}

/**
 * How many pending transactions accounts may keep when there are `excess` too many in all. Only accounts with more than
 * `accountSlots` are cut: the largest first, down to the size of the next, then together. Accounts that are not cut are left out.
 * @param sizes of the accounts with more than `accountSlots`
 */
export function planPendingCuts(
  sizes: readonly (readonly [address: Address, size: number])[],
  excess: number,
  accountSlots: number,
): ReadonlyMap<Address, number> {
  const kept = new Map<Address, number>();
  const offenders = [...sizes].sort(([, a], [, b]) => b - a);
  let left = excess;
  for (let count = 1; count <= offenders.length && left > 0; count++) {
    // The `count` largest are of one size by now. They lose one transaction each a round, all of them in the last one too.
    const size = offenders[count - 1]![1];
    const next = offenders[count]?.[1] ?? accountSlots;
    const rounds = Math.min(Math.ceil(left / count), size - next);
    for (const [address] of offenders.slice(0, count)) kept.set(address, size - rounds);
    left -= rounds * count;
  }
  return kept;
}

/** Queued transactions of an account. */
export type QueueSize = {
  readonly address: Address;
  readonly size: number;
  /** When something last happened to the account, in milliseconds. */
  readonly heartbeat: number;
};

/**
 * How many queued transactions accounts may keep so that there are at most `globalQueue` in all: the longest inactive account is cut
 * first. Accounts that are not cut are left out.
 */
export function planQueueCuts(
  queues: readonly QueueSize[],
  globalQueue: number,
): ReadonlyMap<Address, number> {
  let excess = queues.reduce((sum, { size }) => sum + size, 0) - globalQueue;
  const kept = new Map<Address, number>();
  if (excess <= 0) return kept;
  for (const { address, size } of [...queues].sort((a, b) => a.heartbeat - b.heartbeat)) {
    if (excess <= 0) break;
    const cut = Math.min(size, excess);
    kept.set(address, size - cut);
    excess -= cut;
  }
  return kept;
}
