import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { commandFor } from "./runner/options.ts";
import { runSeeds } from "./runner/run-seeds.ts";
import { buildWorker } from "./runner/worker-bundle.ts";
import { type Plan, planOf } from "./scenario/plan.ts";

/**
 * The same for every commit: a new seed that finds an old fault says nothing of the change. `npm run test:nightly` runs new ones for hours. These reach 99% of
 * the blocks of code that seeds 1 to 36 reach, in a third of their time.
 */
const SEEDS = [2, 5, 6, 8, 9, 10, 12, 14, 15, 16, 22, 23, 25, 27, 28, 33, 34].map(String);
/** Each found a fault. */
const FOUND = ["136063165"];

const bundle = buildWorker(join(tmpdir(), `evmint-seeds-${process.pid}.mjs`));

async function assertGreen(next: () => Plan | undefined): Promise<void> {
  const failed: string[] = [];
  await runSeeds(await bundle, {
    next,
    parallel: 2,
    onResult({ violation }, { seed }) {
      if (violation) failed.push(`${violation.message}\nagain: ${commandFor({ plan: {} }, seed, {})} --trace`);
    },
  });
  assert.deepEqual(failed, []);
}

test("a fixed set of seeds is green", async () => {
  const waiting = [...SEEDS, ...FOUND];
  await assertGreen(() => {
    const seed = waiting.shift();
    return seed === undefined ? undefined : planOf({ seed });
  });
});
