import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { ArchiveModel } from "../testing/archive-model.ts";
import { createTrie } from "../testing/memory-disk.ts";
import { RandomChain } from "../testing/random-chain.ts";
import { compactIndex } from "./index/compact-index.ts";
import type { LogBlockStore } from "./log-block-store.ts";
import { openDiskBlockStore } from "./open-block-store.ts";

const OPERATIONS = fc.oneof(
  { weight: 6, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 5, arbitrary: fc.record({ work: fc.integer({ min: 1, max: 40 }) }) },
  { weight: 1, arbitrary: fc.record({ rollback: fc.double({ min: 0, max: 1, noNaN: true }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "restart" as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: "kill" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "compact" as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: "reindex" as const }) },
);
const LIMIT = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined });

/** A store in a directory, which can be left as a killed process leaves it. */
class Home {
  readonly #parent = mkdtempSync(join(tmpdir(), "evmint-model-"));
  readonly #retention: object;
  readonly #deferred: (() => void)[] = [];
  /** Stores that were left open: those of killed processes. */
  readonly #left: LogBlockStore[] = [];
  #lives = 0;
  store: LogBlockStore;

  constructor(retention: object) {
    this.#retention = retention;
    this.store = this.#open();
  }

  work(count: number): void {
    for (let i = 0; i < count; i++) this.#deferred.shift()?.();
  }

  async next(kind: "restart" | "kill" | "compact" | "reindex"): Promise<void> {
    if (kind === "kill") {
      this.#left.push(this.store);
      // The files at this moment are what the death of the process would leave, its locks aside.
      cpSync(this.#directory(), this.#directory(this.#lives + 1), {
        recursive: true,
        filter: (path) => !/lock(?:\.mdb)?$/.test(path),
      });
      this.#lives++;
    } else {
      this.store.close();
      if (kind === "compact") await compactIndex(this.#directory());
    }
    this.store = this.#open(kind === "reindex");
  }

  remove(): void {
    for (const store of [this.store, ...this.#left]) store.close();
    rmSync(this.#parent, { recursive: true });
  }

  #directory(life = this.#lives): string {
    return join(this.#parent, String(life));
  }

  #open(reindex = false): LogBlockStore {
    this.#deferred.length = 0;
    return openDiskBlockStore({
      ...{ directory: this.#directory(), createTrie, reindex, retention: this.#retention },
      defer: (work) => this.#deferred.push(work),
      onPruningFailure(error) {
        throw error;
      },
      segmentBytesMax: 4_000,
      mergeLimits: {
        ...{ versionsMin: 40, nodeBytesMin: 20_000, blocksMin: 12, keysMax: 3 },
        logs: { blocksMin: 7, postingsMin: 60, logBytesMin: 6_000, rowsMax: 5 },
      },
    });
  }
}

test("on disk, with random blocks, prunings, compactions, rollbacks, kills and rebuilds the store is equal to a naive archive", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(OPERATIONS, { minLength: 8, maxLength: 24 }),
      fc.record({ blocks: LIMIT, states: LIMIT, proofs: LIMIT }),
      fc.nat(),
      async (operations, retained, seed) => {
        const home = new Home({ ...retained, blocksMin: 1 });
        try {
          let model = new ArchiveModel();
          let chain = new RandomChain(seed);
          for (const step of operations) {
            if ("append" in step) {
              for (let i = 0; i < step.append; i++) {
                const block = chain.next();
                home.store.append(block.record, block.nodes);
                model.add(block);
              }
            } else if ("work" in step) home.work(step.work);
            else if ("kind" in step) {
              await home.next(step.kind);
              assert.equal(home.store.head() ?? -1, model.blocks.length - 1);
            } else if (model.blocks.length > 0) {
              const first = home.store.proofBase();
              const number = first + Math.floor(step.rollback * (home.store.head()! - first));
              home.store.rollbackTo(number);
              model = model.upTo(number);
              chain = RandomChain.from(
                seed + operations.length,
                model.blocks.map(({ record }) => record),
              );
            }
          }
          while (home.store.pruneSome());
          model.assertEqual(home.store);
          for (const kind of ["compact", "restart", "reindex", "kill"] as const) {
            await home.next(kind);
            assert.equal(home.store.head() ?? -1, model.blocks.length - 1);
          }
          model.assertEqual(home.store);
          assert.deepEqual(home.store.check().faults, []);
        } finally {
          home.remove();
        }
      },
    ),
    { numRuns: Number(process.env.EVMINT_MODEL_RUNS ?? 5) },
  );
});
