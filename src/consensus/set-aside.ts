import type { Transaction } from "../types/transaction/transaction.ts";

/**
 * Executing `transaction` failed in a way that is not a rejection: a bug of ours, or damaged data. The block under
 * construction may hold half of its changes and must be thrown away.
 */
export class ExecutorFailure extends Error {
  readonly transaction: Transaction;
  constructor(transaction: Transaction, cause: unknown) {
    super(`executing transaction ${transaction.hash} failed`, { cause });
    this.name = "ExecutorFailure";
    this.transaction = transaction;
  }
}

/** Takes a transaction that crashes the executor out of the way: pool, journal and later starts. */
export type SetAside = (failure: ExecutorFailure) => void;
