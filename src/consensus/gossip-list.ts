import type { Hash } from "../base/primitives/hash.ts";
import { encodePooledTransaction } from "../base/types/transaction/encode.ts";
import type { Mempool } from "./mempool/mempool.ts";
import type { PooledTransaction } from "./mempool/pool.ts";

/**
 * Transactions waiting to be announced; beyond it the oldest are dropped. A constant, because nothing is lost: the transactions stay in the
 * pool, whose limits are settings, and local ones are announced again. 20,000 hashes in two lists take about 5 MB.
 */
const ANNOUNCED_MAX = 20_000;
/**
 * Interval at which local ones are announced again, for peers that joined meanwhile or dropped them. A constant: several block times of any
 * chain, and rare enough that 20,000 transfers cost each peer less than 100 kB per second.
 */
export const REANNOUNCE_MS = 30_000;

export type GossipLimits = {
  /** Total bytes; 0 removes the limit. */
  readonly maxBytes: number;
  /** Total gas limits; 0 removes the limit. */
  readonly maxGas: bigint;
};

/** Transactions not yet sent to peers. */
export type GossipList = {
  /** The transactions that fit, oldest first, in network form. Returns each once; local ones again every 30 s. */
  take(limits: GossipLimits): Uint8Array[];
  /** Runs `add`; the transactions that it adds to the pool count as a peer's and are not announced. */
  fromPeer<T>(add: () => T): T;
  size(): number;
};

/** @param modules.now monotonic milliseconds */
export function createGossipList(
  mempool: Pick<Mempool, "all" | "get" | "onAdded">,
  modules: { readonly now: () => number },
): GossipList {
  const unannounced = new Set<Hash>();
  /** When a local transaction was last announced. A Map keeps insertion order, so the oldest is first. */
  const local = new Map<Hash, number>();
  let isFromPeer = false;

  function enqueue({ tx: { hash } }: PooledTransaction): void {
    unannounced.delete(hash);
    unannounced.add(hash);
    if (!isFromPeer) local.set(hash, Number.POSITIVE_INFINITY);
    dropOldest(unannounced);
    dropOldest(local);
  }

  /** Lists local transactions again that were announced long ago and still wait. */
  function reannounce(): void {
    const due = modules.now() - REANNOUNCE_MS;
    for (const [hash, announcedAt] of local) {
      if (mempool.get(hash) === undefined) local.delete(hash);
      else if (announcedAt <= due) unannounced.add(hash);
    }
    dropOldest(unannounced);
  }

  for (const pooled of mempool.all()) enqueue(pooled);
  mempool.onAdded((added) => {
    for (const pooled of added) enqueue(pooled);
  });

  return {
    take({ maxBytes, maxGas }) {
      reannounce();
      const taken: Uint8Array[] = [];
      let bytes = 0;
      let gas = 0n;
      for (const hash of unannounced) {
        const pooled = mempool.get(hash);
        const raw = pooled && encodePooledTransaction(pooled.tx, pooled.sidecar);
        const exceeds = (size: number, gasLimit: bigint) =>
          (maxBytes > 0 && size > maxBytes) || (maxGas > 0n && gasLimit > maxGas);
        if (!pooled || !raw || exceeds(raw.length, pooled.tx.gasLimit)) {
          unannounced.delete(hash);
          continue;
        }
        if (exceeds(bytes + raw.length, gas + pooled.tx.gasLimit)) continue;
        bytes += raw.length;
        gas += pooled.tx.gasLimit;
        taken.push(raw);
        unannounced.delete(hash);
        if (local.has(hash)) local.set(hash, modules.now());
      }
      return taken;
    },
    fromPeer(add) {
      isFromPeer = true;
      try {
        return add();
      } finally {
        isFromPeer = false;
      }
    },
    size: () => unannounced.size,
  };
}

function dropOldest(hashes: Set<Hash> | Map<Hash, number>): void {
  for (const oldest of hashes.keys()) {
    if (hashes.size <= ANNOUNCED_MAX) return;
    hashes.delete(oldest);
  }
}
