import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { IS_NIGHTLY } from "../support/nightly.ts";
import { SimulationProcess } from "./runner/simulation-process.ts";
import { buildWorker } from "./runner/worker-bundle.ts";
import { planOf } from "./scenario/plan.ts";

const SHORT = { durationMs: 20_000 } as const;
const PLANS = [
  planOf({ ...SHORT, seed: "3", nodes: 4, engine: "cometbft" }),
  planOf({ ...SHORT, seed: "5", engine: "solo" }),
] as const;
/** At night the first plan is repeated after this one too. */
const MORE = IS_NIGHTLY ? [planOf({ ...SHORT, seed: "9", nodes: 5, engine: "cometbft" })] : [];

test("a seed does the same each time: again in one process, after others, and in another process", async (t) => {
  const bundle = await buildWorker(join(tmpdir(), `evmint-simulation-${process.pid}.mjs`));
  const [one, other] = [new SimulationProcess(bundle), new SimulationProcess(bundle)];
  t.after(() => {
    one.close();
    other.close();
  });
  const [a, b] = PLANS;
  const hashes = [];
  assert.ok(b.speculationThreads > 0);
  for (const plan of [a, b, ...MORE, a]) {
    const { hash, violation, blocks, speculated } = await one.run(plan);
    assert.equal(violation, undefined);
    // Else no recording would be put to the test.
    if (plan.speculationThreads > 0) assert.ok(speculated["applied"]! > 0, JSON.stringify(speculated));
    assert.ok(blocks > 3);
    hashes.push(hash);
  }
  const [first] = hashes;
  assert.equal(hashes.at(-1), first);
  assert.equal(new Set(hashes).size, hashes.length - 1, "seeds differ");
  assert.equal((await other.run(a, true)).hash, first, "also with the trace in words");
});
