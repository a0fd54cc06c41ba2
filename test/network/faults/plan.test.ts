import assert from "node:assert/strict";
import { test } from "node:test";
import { FAULT_KINDS, planFaults } from "./plan.ts";

const OPTIONS = { faults: 100, nodes: 7, validators: 4, secondsMax: 30 };
const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

test("a seed decides the faults, and another one other faults", () => {
  const plans = SEEDS.map((seed) => JSON.stringify(planFaults({ ...OPTIONS, seed })));
  assert.deepEqual(
    SEEDS.map((seed) => JSON.stringify(planFaults({ ...OPTIONS, seed }))),
    plans,
  );
  assert.equal(new Set(plans).size, SEEDS.length);
});

test("every kind comes equally often, and to every node something", () => {
  for (const seed of SEEDS) {
    const plan = planFaults({ ...OPTIONS, seed });
    const counts = FAULT_KINDS.map((kind) => plan.filter((fault) => fault.kind === kind).length);
    assert.ok(Math.max(...counts) - Math.min(...counts) <= 1, `${counts}`);
    assert.equal(new Set(plan.map(({ node }) => node)).size, OPTIONS.nodes);
    for (const { seconds } of plan) assert.ok(seconds >= 3 && seconds <= OPTIONS.secondsMax);
  }
});

test("a node is backed up some faults before it is restored", () => {
  for (const seed of SEEDS) {
    const plan = planFaults({ ...OPTIONS, seed });
    for (const [index, { kind, node }] of plan.entries()) {
      if (kind !== "restored from a backup") continue;
      const earlier = plan.slice(Math.max(0, index - 6), index);
      assert.ok(
        earlier.some(({ backups }) => backups.includes(node)),
        `seed ${seed}, fault ${index}`,
      );
    }
  }
});
