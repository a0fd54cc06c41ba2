import type { Kv, KvRange, KvWriter } from "../../../../src/store/storage/kv.ts";

/** Of a commit that fails: its rows are as before, or they are written and its caller does not learn it. */
export type CommitFailure = "before" | "after";

export class InjectedCommitError extends Error {}

/** A store in which one transaction can be made to fail at its commit. */
export class FailingKv implements Kv {
  readonly #kv: Kv;
  /** Transactions so far. */
  count = 0;
  #failing: { readonly transaction: number; readonly failure: CommitFailure } | undefined;

  /** @param failing number of the transaction that fails, from 0; undefined: none does */
  constructor(kv: Kv, failing?: { readonly transaction: number; readonly failure: CommitFailure }) {
    this.#kv = kv;
    this.#failing = failing;
  }

  get(key: Uint8Array) {
    return this.#kv.get(key);
  }

  view(key: Uint8Array) {
    return this.#kv.view(key);
  }

  range(range: KvRange) {
    return this.#kv.range(range);
  }

  transaction<T>(work: (writer: KvWriter) => T): T {
    if (this.count++ !== this.#failing?.transaction) return this.#kv.transaction(work);
    const { failure } = this.#failing;
    const error = new InjectedCommitError(`commit failed ${failure} it was made`);
    this.#kv.transaction((writer) => {
      work(writer);
      if (failure === "before") throw error;
    });
    throw error;
  }

  sync(): void {
    this.#kv.sync();
  }

  close(): void {
    this.#kv.close();
  }
}
