import type { Address } from "../primitives/address.ts";
import { costOf, maxFeePerGasOf, maxPriorityFeeOf } from "../types/transaction/fees.ts";
import { recoverAuthority } from "../types/transaction/sender.ts";
import type { Authorization, BlobSidecar, Transaction } from "../types/transaction/transaction.ts";
import { memoryBytesOf } from "./memory.ts";
import type { PooledTransaction } from "./pool.ts";

/** A pooled transaction with what the pool needs of it again and again. */
export type Entry = PooledTransaction & {
  /** wei the sender's balance must cover */
  readonly cost: bigint;
  /** wei */
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  /** Order of arrival in this pool: breaks ties between equal tips. */
  readonly arrival: number;
  /** Memory it takes, counted against the limits of the pool. */
  readonly bytes: number;
  /** Signers of its authorizations (EIP-7702), each once. */
  readonly authorities: readonly Address[];
};

export function createEntry(pooled: PooledTransaction, arrival: number): Entry {
  return new PoolEntry(pooled, arrival);
}

/** A class, because an object literal with a getter costs many times as much to make. */
class PoolEntry implements Entry {
  readonly tx: Transaction;
  readonly sender: Address;
  declare readonly sidecar?: BlobSidecar;
  readonly cost: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
  readonly arrival: number;
  readonly bytes: number;
  #authorities: readonly Address[] | undefined;

  constructor({ tx, sender, sidecar }: PooledTransaction, arrival: number) {
    this.tx = tx;
    this.sender = sender;
    if (sidecar !== undefined) this.sidecar = sidecar;
    this.cost = costOf(tx);
    this.maxFeePerGas = maxFeePerGasOf(tx);
    this.maxPriorityFeePerGas = maxPriorityFeeOf(tx);
    this.arrival = arrival;
    this.bytes = memoryBytesOf(tx, sidecar);
  }

  // Recovered on first use: hundreds of signatures are not worth it for a transaction its sender cannot pay.
  get authorities(): readonly Address[] {
    this.#authorities ??= this.tx.type === 4 ? authoritiesOf(this.tx.authorizationList) : [];
    return this.#authorities;
  }
}

function authoritiesOf(list: readonly Authorization[]): readonly Address[] {
  const found = new Set<Address>();
  for (const authorization of list) {
    const authority = recoverAuthority(authorization);
    if (authority !== undefined) found.add(authority);
  }
  return [...found];
}

/** True when `next` pays enough more than `old`, the transaction of the same nonce, to take its place. */
export function satisfiesPriceBump(next: Entry, old: Entry, priceBump: number): boolean {
  return (
    next.maxFeePerGas > old.maxFeePerGas &&
    next.maxPriorityFeePerGas > old.maxPriorityFeePerGas &&
    next.maxFeePerGas >= bumped(old.maxFeePerGas, priceBump) &&
    next.maxPriorityFeePerGas >= bumped(old.maxPriorityFeePerGas, priceBump)
  );
}

/** `fee` raised by `percent`, rounded down. */
export function bumped(fee: bigint, percent: number): bigint {
  return (fee * BigInt(100 + percent)) / 100n;
}
