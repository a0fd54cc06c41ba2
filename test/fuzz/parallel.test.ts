import assert from "node:assert/strict";
import { test } from "node:test";
import type { Evm } from "../../src/evm/machine/evm.ts";
import { createEngines } from "../conformance/engines.ts";
import { compareParallel, SPECULATIONS, type SpeculationKind } from "./parallel-block.ts";

/** Another seed than the one a longer run begins with. */
const SEED = 50_000_000;
const WORLDS = 60;

const evm = await createEngines("evmint");

function compare(kinds: readonly SpeculationKind[], engine: Evm = evm) {
  const total = { applied: 0, conflicts: 0, differences: [] as string[] };
  for (let seed = SEED; seed < SEED + WORLDS; seed++) {
    const { applied, conflicts, difference } = compareParallel(seed, engine, kinds);
    total.applied += applied;
    total.conflicts += conflicts;
    if (difference !== undefined) total.differences.push(`seed ${seed}: ${difference}`);
  }
  return total;
}

for (const kind of SPECULATIONS) {
  test(`random blocks from executions that were recorded ${kind} are those of serial execution`, () => {
    const { applied, conflicts, differences } = compare([kind]);
    assert.deepEqual(differences, []);
    assert.ok(applied > WORLDS, `${applied} applied`);
    if (kind === "each alone") assert.ok(conflicts > 10, `${conflicts} conflicts`);
  });
}

test("an engine that hides what it accesses is found out by random blocks", () => {
  const silent: Evm = {
    execute: (message, block, state, options) =>
      evm.execute(message, block, state, { ...options, onAccess: undefined }),
  };
  assert.ok(compare(["each alone"], silent).differences.length > 0);
});
