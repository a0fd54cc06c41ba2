import assert from "node:assert/strict";
import { test } from "node:test";
import { assertWithinLimits, planBlocks } from "./simulate-plan.ts";

const base = { number: 10, timestamp: 1_000 };
const places = (blocks: ReturnType<typeof planBlocks>) => blocks.map(({ number, timestamp }) => [number, timestamp]);

test("planBlocks puts each block 12 seconds after the one before", () => {
  assert.deepEqual(places(planBlocks([{ calls: [] }, { calls: [] }], base)), [
    [11, 1_012],
    [12, 1_024],
  ]);
});

test("planBlocks fills gaps with empty blocks", () => {
  const planned = planBlocks([{ blockOverrides: { number: 13n }, calls: [{}] }], base);
  assert.deepEqual(places(planned), [
    [11, 1_012],
    [12, 1_024],
    [13, 1_036],
  ]);
  assert.deepEqual(
    planned.map(({ calls }) => calls.length),
    [0, 0, 1],
  );
});

test("planBlocks refuses numbers that do not rise, and times that do not after the gap", () => {
  const at = (blockOverrides: object) => ({ blockOverrides, calls: [] });
  assert.throws(() => planBlocks([at({ number: 10n })], base), {
    code: "SIMULATE_BLOCK_NUMBER_ORDER",
    message: "block numbers must be in order: 10 <= 10",
  });
  assert.throws(() => planBlocks([at({ number: 13n, time: 1_024n })], base), {
    code: "SIMULATE_BLOCK_TIMESTAMP_ORDER",
    message: "block timestamps must be in order: 1024 <= 1024",
  });
});

test("planBlocks goes no further than 256 blocks from the base", () => {
  const to = (number: number) => planBlocks([{ blockOverrides: { number: BigInt(number) }, calls: [] }], base);
  assert.equal(to(266).length, 256);
  assert.throws(() => to(267), { code: "SIMULATE_LIMIT_EXCEEDED" });
});

test("assertWithinLimits counts blocks, calls of a block and all calls", () => {
  const calls = (count: number) => ({ calls: new Array(count).fill({}) });
  assertWithinLimits([calls(5_000), calls(5_000)]);
  for (const tooMuch of [new Array(257).fill({}), [calls(5_001)], [calls(5_000), calls(5_000), calls(1)]]) {
    assert.throws(() => assertWithinLimits(tooMuch), { code: "SIMULATE_LIMIT_EXCEEDED" });
  }
});
