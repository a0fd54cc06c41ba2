import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { MemoryBudget, type MemoryShare } from "./memory-budget.ts";

function setup(bytesMax: number, count: number) {
  const evicted: number[] = [];
  const seen: number[] = [];
  const budget = new MemoryBudget(bytesMax, (bytes) => seen.push(bytes));
  const shares = Array.from({ length: count }, (_, i) => budget.open(() => evicted.push(i)));
  return { budget, shares, evicted, seen };
}

test("MemoryBudget evicts the largest share, the oldest among equals, and never a small one", () => {
  const { budget, shares, evicted } = setup(1000, 4);
  shares[0]!.set(10);
  shares[2]!.set(480);
  shares[1]!.set(480);
  assert.deepEqual([evicted, budget.bytes], [[], 970]);
  shares[3]!.add(40);
  assert.deepEqual([evicted, budget.bytes], [[2], 530]);
  shares[2]!.set(100_000);
  assert.equal(budget.bytes, 530, "an evicted share holds nothing any more");
});

test("MemoryBudget reports every change", () => {
  const { shares, seen } = setup(1000, 2);
  shares[0]!.set(5);
  shares[1]!.add(7);
  shares[0]!.close();
  assert.deepEqual(seen, [5, 12, 7]);
});

test("MemoryBudget: the sum is that of its shares and never beyond the limit, whatever happens", () => {
  const step = fc.record({
    share: fc.nat(9),
    bytes: fc.nat(1500),
    kind: fc.constantFrom("set", "add", "close"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const { budget, shares } = setup(1000, 10);
      for (const { share, bytes, kind } of steps) {
        const target = shares[share] as MemoryShare;
        if (kind === "close") target.close();
        else if (kind === "set") target.set(bytes);
        else target.add(bytes);
        const sum = shares.reduce((total, each) => total + each.bytes, 0);
        assert.equal(budget.bytes, sum);
        assert.ok(sum <= 1000);
      }
    }),
  );
});
