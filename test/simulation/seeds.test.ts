import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { commandFor } from "./runner/options.ts";
import { runSeeds } from "./runner/run-seeds.ts";
import { buildWorker } from "./runner/worker-bundle.ts";
import { type Plan, planOf } from "./scenario/plan.ts";

/** The same for every commit: a new seed that finds an old fault says nothing of the change. `npm run test:nightly` runs new ones for hours. */
const SEEDS = 36;

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
  let seed = 0;
  await assertGreen(() => (seed < SEEDS ? planOf({ seed: String(++seed) }) : undefined));
});
