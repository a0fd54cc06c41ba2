import assert from "node:assert/strict";
import { test } from "node:test";
import { ArchiveModel } from "../../../test/support/chain/archive-model.ts";
import {
  type Death,
  DiskHome,
  MIGRATION_POINTS,
  REPEATED_MIGRATION_POINTS,
} from "../../../test/support/chain/disk-home.ts";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import fc from "../../../test/support/fast-check.ts";

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
const DEATH = fc.oneof(
  fc.record({ point: fc.constantFrom(...MIGRATION_POINTS), hits: fc.constant(1) }),
  fc.record({
    point: fc.constantFrom(...REPEATED_MIGRATION_POINTS),
    hits: fc.integer({ min: 1, max: 5 }),
  }),
);
const OLD_HOME = fc.record({
  blocks: fc.integer({ min: 1, max: 30 }),
  deaths: fc.array(DEATH, { minLength: 1, maxLength: 4 }),
});

type OldHome = { readonly blocks: number; readonly deaths: readonly Death[] };

/** @param old home that an old program left; undefined: a new one */
async function assertEqualToArchive(old: fc.Arbitrary<OldHome | undefined>): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      fc.array(OPERATIONS, { minLength: 8, maxLength: 24 }),
      // Without retention rows of blocks wait in memory.
      fc.option(fc.record({ blocks: LIMIT, states: LIMIT, proofs: LIMIT }), { freq: 2, nil: undefined }),
      fc.boolean(),
      fc.nat(),
      old,
      async (operations, retained, imports, seed, oldHome) => {
        const home = new DiskHome(retained && { ...retained, blocksMin: 1 }, { imports });
        try {
          let model = new ArchiveModel();
          // Format 1 is older than Amsterdam.
          let chain = new RandomChain(seed, oldHome && { amsterdam: oldHome.blocks });
          let rollbacks = 0;
          if (oldHome !== undefined) {
            for (const block of home.migrate(chain, oldHome.blocks, oldHome.deaths)) model.add(block);
          }
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
              // Never the same seed again: it would give the same transactions, which are in one block only.
              chain = RandomChain.from(
                seed + ++rollbacks,
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
    { numRuns: 10 },
  );
}

test("on disk, with random blocks, prunings, compactions, rollbacks, kills and rebuilds the store is equal to a naive archive", () =>
  assertEqualToArchive(fc.constant(undefined)));

test("the same of a home of log format 1 whose migration is killed at random steps", () =>
  assertEqualToArchive(OLD_HOME));
