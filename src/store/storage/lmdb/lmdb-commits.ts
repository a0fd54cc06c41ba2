import { closeSync, openSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { InvariantError } from "../../../base/errors.ts";
import { META_OFFSET, PAGE_SIZE } from "./lmdb-pages.ts";

/** Where the lock file has the number of the last transaction, u64: after its magic number and format. */
const LOCK_TRANSACTION = 8;
/** Up to the end of the second meta page's number. */
const METAS_LENGTH = PAGE_SIZE + META_OFFSET.transaction + 8;
/** Times that a transaction is begun: each one more takes a process that opens the store at that very moment. */
const BEGINS_MAX = 10;

/**
 * The number of the last commit, which liblmdb takes from the lock file when a transaction begins. Another process that opens the store writes
 * there what it read from the meta pages a moment before (`mdb_env_open2`): a commit in between is forgotten, and the next transaction would
 * begin without it and write over it. The meta pages themselves are right.
 */
export class LmdbCommits {
  readonly #directory: string;
  readonly #data: number;
  readonly #metas = Buffer.alloc(METAS_LENGTH);
  /** Stays open: closing it would release the process's locks of that file. */
  #lock: number | undefined;

  constructor(directory: string) {
    this.#directory = directory;
    this.#data = openSync(join(directory, "data.mdb"), "r");
  }

  /** Calls `begin` again, after putting the lock file right, while it throws `ForgottenCommitError`. */
  runAfterLast<T>(begin: () => T): T {
    for (let begins = 1; ; begins++) {
      try {
        return begin();
      } catch (error) {
        if (!(error instanceof ForgottenCommitError) || begins === BEGINS_MAX) throw error;
        this.#writeLast();
      }
    }
  }

  /** @param transaction number of the one that has begun @throws ForgottenCommitError where it does not follow the last commit */
  assertFollowsLast(transaction: number): void {
    const last = this.#last();
    if (transaction !== last + 1) {
      throw new ForgottenCommitError(`transaction ${transaction} must follow the last commit, ${last}`);
    }
  }

  #last(): number {
    readSync(this.#data, this.#metas, 0, METAS_LENGTH, 0);
    const [first, second] = [META_OFFSET.transaction, PAGE_SIZE + META_OFFSET.transaction];
    return Math.max(Number(this.#metas.readBigUInt64LE(first)), Number(this.#metas.readBigUInt64LE(second)));
  }

  #writeLast(): void {
    this.#lock ??= openSync(join(this.#directory, "lock.mdb"), "r+");
    const number = Buffer.alloc(8);
    number.writeBigUInt64LE(BigInt(this.#last()));
    writeSync(this.#lock, number, 0, number.length, LOCK_TRANSACTION);
  }

  /** After the store itself. */
  close(): void {
    closeSync(this.#data);
    if (this.#lock !== undefined) closeSync(this.#lock);
  }
}

class ForgottenCommitError extends InvariantError {}
