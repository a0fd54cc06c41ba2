import type { Address } from "../primitives/address.ts";
import type { Entry } from "./entry.ts";
import { SLOT_SIZE } from "./options.ts";

/** Slots of 32 KiB that a transaction takes. */
export function slotsOf({ tx }: Entry): number {
  return Math.ceil(tx.raw.length / SLOT_SIZE);
}

/**
 * How many pending transactions accounts may keep so that there are at most `globalSlots` in all: those with more than `accountSlots`
 * are cut, the largest first, down to each other's size and then together. Accounts that are not cut are left out.
 */
export function planPendingCuts(
  sizes: ReadonlyMap<Address, number>,
  { globalSlots, accountSlots }: { readonly globalSlots: number; readonly accountSlots: number },
): ReadonlyMap<Address, number> {
  let total = 0;
  for (const size of sizes.values()) total += size;
  const kept = new Map<Address, number>();
  if (total <= globalSlots) return kept;

  const offenders = [...sizes]
    .filter(([, size]) => size > accountSlots)
    .sort(([, a], [, b]) => b - a);
  for (let count = 1; count <= offenders.length && total > globalSlots; count++) {
    // The `count` largest are of one size by now. They lose one transaction each a round, all of them in the last one too.
    const size = offenders[count - 1]![1];
    const next = Math.max(offenders[count]?.[1] ?? 0, accountSlots);
    const rounds = Math.min(Math.ceil((total - globalSlots) / count), size - next);
    for (const [address] of offenders.slice(0, count)) kept.set(address, size - rounds);
    total -= rounds * count;
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
