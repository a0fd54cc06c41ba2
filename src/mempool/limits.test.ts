import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import type { Address } from "../primitives/address.ts";
import { planPendingCuts, planQueueCuts } from "./limits.ts";
import { testAccount } from "./testing/pool-fixture.ts";

const addresses = Array.from({ length: 6 }, (_, index) => testAccount(index));
const [a, b, c] = addresses as [Address, Address, Address];

test("planPendingCuts cuts the largest to the next, then all of them together", () => {
  const sizes = [
    [a, 20],
    [b, 30],
    [c, 17],
  ] as const;
  assert.deepEqual(planPendingCuts(sizes, 7, 16), new Map([[b, 23]]));
  assert.deepEqual(
    planPendingCuts(sizes, 12, 16),
    new Map([
      [b, 19],
      [a, 19],
    ]),
  );
  assert.deepEqual(
    planPendingCuts(sizes, 100, 16),
    new Map([
      [b, 16],
      [a, 16],
      [c, 16],
    ]),
  );
  assert.deepEqual(planPendingCuts(sizes, 0, 16), new Map());
  assert.deepEqual(planPendingCuts([], 5, 16), new Map());
});

test("planPendingCuts agrees with cutting one transaction at a time in rounds", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 4, max: 30 }), { minLength: 1, maxLength: 6 }),
      fc.nat(120),
      (counts, excess) => {
        const sizes = counts.map((count, index) => [addresses[index]!, count] as const);
        const plan = planPendingCuts(sizes, excess, 3);
        const left = sizes
          .map(([address, size]) => plan.get(address) ?? size)
          .sort((x, y) => x - y);
        assert.deepEqual(
          left,
          cutInRounds(counts, excess, 3).sort((x, y) => x - y),
        );
      },
    ),
  );
});

/** Each round takes one from all that are largest. */
function cutInRounds(counts: readonly number[], excess: number, floor: number): number[] {
  const sizes = [...counts];
  let left = excess;
  while (left > 0) {
    const largest = Math.max(...sizes);
    if (largest <= floor) break;
    for (const [index, size] of sizes.entries()) {
      if (size !== largest) continue;
      sizes[index] = size - 1;
      left--;
    }
  }
  return sizes;
}

test("planQueueCuts takes from the longest inactive account first", () => {
  const queues = [
    { address: a, size: 3, heartbeat: 30 },
    { address: b, size: 2, heartbeat: 10 },
    { address: c, size: 4, heartbeat: 20 },
  ];
  assert.deepEqual(planQueueCuts(queues, 9), new Map());
  assert.deepEqual(planQueueCuts(queues, 8), new Map([[b, 1]]));
  assert.deepEqual(
    planQueueCuts(queues, 5),
    new Map([
      [b, 0],
      [c, 2],
    ]),
  );
});
