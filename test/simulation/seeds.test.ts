import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { commandFor } from "./runner/options.ts";
import { runSeeds } from "./runner/run-seeds.ts";
import { buildWorker } from "./runner/worker-bundle.ts";
import { type Plan, planOf } from "./scenario/plan.ts";

const FIXED = 20;
/** Of each commit; `npm run test:nightly` runs new ones for hours. */
const NEW = 16;

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
  await assertGreen(() => (seed < FIXED ? planOf({ seed: String(++seed) }) : undefined));
});

test("so are those of this commit", async (t) => {
  const first = firstSeedOfCommit();
  let next = first;
  await assertGreen(() => (next < first + NEW ? planOf({ seed: String(next++) }) : undefined));
  t.diagnostic(`${NEW} seeds from ${first} on`);
});

/** Others with each change of any file, and the same for all who test it; drawn at random where there is no repository. */
function firstSeedOfCommit(): number {
  const { stdout, status } = spawnSync("git", ["rev-parse", "HEAD^{tree}"], { encoding: "utf8" });
  return status === 0 ? Number.parseInt(stdout.slice(0, 7), 16) : randomInt(1e9);
}
