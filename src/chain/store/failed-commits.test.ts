import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArchiveModel } from "../../../test/support/chain/archive-model.ts";
import { createMemoryDisk } from "../../../test/support/chain/memory-disk.ts";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { IS_NIGHTLY } from "../../../test/support/nightly.ts";
import { type CommitFailure, FailingKv, InjectedCommitError } from "../../../test/support/store/storage/failing-kv.ts";
import { BufferedKv, type BufferLimits } from "../../store/storage/buffered-kv.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { StorePoisonedError } from "../store-errors.ts";
import type { MergeLimits } from "./index/index-merge.ts";
import type { LogBlockStore } from "./log-block-store.ts";

const BLOCKS = 24;
/** Before the last checkpoint, after it, and in the middle of a merge. */
const ROLLBACKS: Readonly<Record<number, number>> = { 9: 5, 15: 9, 22: 11 };

/** Some blocks. */
const BUFFER_LIMITS: BufferLimits = { rowsMax: 50, bytesMax: 100_000, sliceRows: 15 };

const MERGE_LIMITS: MergeLimits = {
  versionsMin: 40,
  nodeBytesMin: 20_000,
  blocksMin: 12,
  keysMax: 25,
  logs: { blocksMin: 7, postingsMin: 60, logBytesMin: 6_000, rowsMax: 30 },
};

/** A chain that is appended to a store, rolled back and appended again, with all that happens between blocks. */
class Scenario {
  readonly #disk = createMemoryDisk();
  readonly #kv: FailingKv;
  readonly #model: ArchiveModel;
  readonly #dies: boolean;
  readonly #waits: boolean;
  #chain = new RandomChain(11);
  #store: LogBlockStore;
  /** Errors that the caller of an append or a rollback got. */
  readonly thrown: unknown[] = [];
  reopened = 0;

  /**
   * @param dies the process ends with the first error that it gets
   * @param waits rows of blocks wait in memory
   */
  constructor(
    failing?: { readonly transaction: number; readonly failure: CommitFailure },
    { dies = false, waits = false } = {},
  ) {
    this.#dies = dies;
    this.#waits = waits;
    this.#kv = new FailingKv(createMemoryKv(), failing);
    this.#model = new ArchiveModel();
    this.#store = this.#open();
  }

  #open(): LogBlockStore {
    return this.#disk.open({
      // A process that dies takes along what waits.
      index: this.#waits ? new BufferedKv(this.#kv, BUFFER_LIMITS) : this.#kv,
      addressIndex: true,
      mergeLimits: MERGE_LIMITS,
      ...(!this.#waits && {
        retention: { states: 14, proofs: 8, blocksMin: 3, sliceMs: Number.POSITIVE_INFINITY },
      }),
      onPruningFailure: (error) => assert.ok(error instanceof InjectedCommitError),
      onAddressIndexFailure: (error) => assert.ok(error instanceof InjectedCommitError),
    });
  }

  /** Transactions of a whole run. */
  run(): number {
    let model = this.#model;
    for (let i = 0; i < BLOCKS; i++) {
      const block = this.#chain.next();
      model.add(block);
      this.#do(model.blocks.length - 1, (store) => store.append(block.record, block.nodes));
      this.#runDeferred(3);
      const back = ROLLBACKS[i];
      if (back === undefined) continue;
      this.#do(back, (store) => store.rollbackTo(back));
      model = model.upTo(back);
      this.#chain = RandomChain.from(
        i,
        model.blocks.map(({ record }) => record),
      );
    }
    // Pruning and the index of addresses stop where one of their commits fails, and go on at the next start.
    for (let start = 0; start < 2; start++) {
      this.#reopen();
      this.#runDeferred(Number.POSITIVE_INFINITY);
    }
    assert.equal(this.#store.addressIndex.needsWork(), false);
    assert.equal(this.#store.blocksToPrune, 0);
    model.assertEqual(this.#store);
    return this.#kv.count;
  }

  /** Until the head is block `number`: a store that has poisoned itself is opened again, another one has to take the same call. */
  #do(number: number, work: (store: LogBlockStore) => void): void {
    const head = this.#store.head();
    for (let tries = 0; ; tries++) {
      assert.ok(tries < 4, "the store must come out of one failure");
      try {
        work(this.#store);
        assert.equal(this.#store.head(), number);
        return;
      } catch (error) {
        if (!(error instanceof InjectedCommitError || error instanceof StorePoisonedError)) throw error;
        this.thrown.push(error);
        if (!(error instanceof StorePoisonedError || this.#dies)) continue;
        this.#reopen();
        if (this.#store.head() === number) return;
        assert.equal(this.#store.head(), head);
      }
    }
  }

  /** The process ends without closing the store, and another one begins. */
  #reopen(): void {
    this.reopened++;
    try {
      this.#store = this.#open();
    } catch (error) {
      // Opening writes too, and that may be what fails.
      if (!(error instanceof InjectedCommitError)) throw error;
      this.#store = this.#open();
    }
  }

  #runDeferred(count: number): void {
    for (let i = 0; i < count && this.#disk.deferred.length > 0; i++) this.#disk.deferred.shift()!();
  }
}

describe("a commit that fails", () => {
  /** One transaction fails in each run: every one in the nightly run, a fifth of them with every change, or a seventh if rows of blocks wait. */
  function failEach(failure: CommitFailure, dies: boolean): void {
    for (const waits of [false, true]) {
      const transactions = new Scenario(undefined, { waits }).run();
      const step = IS_NIGHTLY ? 1 : waits ? 7 : 5;
      let thrown = 0;
      for (let transaction = 0; transaction < transactions; transaction += step) {
        const scenario = new Scenario({ transaction, failure }, { dies, waits });
        scenario.run();
        thrown += scenario.thrown.length;
      }
      assert.ok(thrown > (waits ? 0 : BLOCKS / step), `${thrown} of ${transactions}`);
    }
  }

  test("before it is made loses nothing: the store goes on, or says that it has to be opened again", () => {
    failEach("before", false);
  });

  test("after it was made loses nothing: the store goes on, or says that it has to be opened again", () => {
    failEach("after", false);
  });

  test("after it was made loses nothing where the process dies of it", () => {
    failEach("after", true);
  });

  test("before it is made is no more than a block that is not taken: the next try is", () => {
    const scenario = new Scenario({ transaction: 0, failure: "before" });
    scenario.run();
    assert.deepEqual(
      scenario.thrown.map((error) => (error as Error).constructor),
      [InjectedCommitError],
    );
    assert.equal(scenario.reopened, 2);
  });
});
