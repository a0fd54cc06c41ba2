import type { Address } from "../base/primitives/address.ts";
import type { Hash } from "../base/primitives/hash.ts";
import { decodePooledTransaction } from "../base/types/transaction/decode.ts";
import { encodePooledTransaction } from "../base/types/transaction/encode.ts";
import type { Mempool } from "../consensus/mempool/mempool.ts";
import type { PooledTransaction, Submission } from "../consensus/mempool/pool.ts";

/** A pooled transaction as a journal stores it; it is decoded when a revert pools it again. */
export type StoredTransaction = {
  readonly hash: Hash;
  readonly sender: Address;
  /** Network form: a blob transaction with its sidecar. */
  readonly raw: Uint8Array;
};

/** A transaction that a snapshot holds: the object of the pool, or its bytes after a restart. */
export type HeldTransaction = PooledTransaction | StoredTransaction;

/** How the pool of a snapshot differs from the pool of the snapshot before it. */
export type PoolChanges = {
  readonly added: ReadonlyMap<Hash, HeldTransaction>;
  readonly removed: ReadonlyMap<Hash, HeldTransaction>;
};

/**
 * The pools of all snapshots, as a list of changes: transactions are shared with the pool, and a snapshot costs only the changes since the
 * previous one.
 */
export class PoolHistory {
  readonly #mempool: Mempool;
  readonly #changes: PoolChanges[] = [];
  /** The pool of the newest snapshot. */
  readonly #newest = new Map<Hash, HeldTransaction>();
  /** Hashes that were added or removed since; all others are in both pools or in neither. */
  readonly #touched = new Set<Hash>();

  /** @param changes of the snapshots that there are, oldest first */
  constructor(mempool: Mempool, changes: Iterable<PoolChanges>) {
    this.#mempool = mempool;
    for (const each of changes) this.#append(each);
    if (this.#changes.length > 0) this.#touchAll();
    mempool.onAdded((transactions) => {
      if (this.#changes.length === 0) return;
      for (const { tx } of transactions) this.#touched.add(tx.hash);
    });
    mempool.onRemoved(({ tx }) => {
      if (this.#changes.length === 0) return;
      if (this.#newest.has(tx.hash)) this.#touched.add(tx.hash);
      else this.#touched.delete(tx.hash);
    });
  }

  /** How the pool differs from that of the newest snapshot. */
  changes(): PoolChanges {
    if (this.#changes.length === 0) this.#touchAll();
    const added = new Map<Hash, HeldTransaction>();
    const removed = new Map<Hash, HeldTransaction>();
    for (const hash of this.#touched) {
      const before = this.#newest.get(hash);
      const now = this.#mempool.get(hash);
      if (now === undefined) {
        if (before !== undefined) removed.set(hash, before);
      } else if (before === undefined) {
        const { tx, sender, sidecar } = now;
        added.set(hash, { tx, sender, ...(sidecar && { sidecar }) });
      }
    }
    return { added, removed };
  }

  /** Begins a snapshot with what `changes` returned, without a change of the pool in between. */
  push(changes: PoolChanges): void {
    this.#append(changes);
    this.#touched.clear();
  }

  /** Has the pool be that of snapshot `index` again, which is forgotten with all after it. */
  revertTo(index: number): void {
    while (this.#changes.length > index + 1) this.#undo(this.#changes.pop()!);
    const { added, removed } = this.changes();
    for (const hash of added.keys()) this.#mempool.remove(hash, "dropped");
    this.#mempool.addAll(Array.from(removed.values(), submissionOf).sort(byNonce));
    this.#undo(this.#changes.pop()!);
    if (this.#changes.length === 0) this.clear();
  }

  clear(): void {
    this.#changes.length = 0;
    this.#newest.clear();
    this.#touched.clear();
  }

  #append(changes: PoolChanges): void {
    for (const hash of changes.removed.keys()) this.#newest.delete(hash);
    for (const [hash, transaction] of changes.added) this.#newest.set(hash, transaction);
    this.#changes.push(changes);
  }

  #undo({ added, removed }: PoolChanges): void {
    for (const hash of added.keys()) {
      this.#newest.delete(hash);
      this.#touched.add(hash);
    }
    for (const [hash, transaction] of removed) {
      this.#newest.set(hash, transaction);
      this.#touched.add(hash);
    }
  }

  #touchAll(): void {
    for (const { tx } of this.#mempool.all()) this.#touched.add(tx.hash);
    for (const hash of this.#newest.keys()) this.#touched.add(hash);
  }
}

/** With the sender and the verified proofs that the pool had accepted. */
function submissionOf(held: HeldTransaction): Submission {
  const { tx, sidecar } = "tx" in held ? held : decodePooledTransaction(held.raw);
  return { tx, sender: held.sender, ...(sidecar && { sidecar }), isVerified: true };
}

/** In this order, no transaction waits for one before it. */
function byNonce({ tx: first }: Submission, { tx: second }: Submission): number {
  return Number(first.nonce - second.nonce);
}

export function storedForm(held: HeldTransaction): StoredTransaction {
  if (!("tx" in held)) return held;
  const { tx, sender, sidecar } = held;
  return { hash: tx.hash, sender, raw: encodePooledTransaction(tx, sidecar) };
}
