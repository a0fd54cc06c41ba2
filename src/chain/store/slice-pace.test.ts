import assert from "node:assert/strict";
import { test } from "node:test";
import { SlicePace } from "./slice-pace.ts";

/** Writes rows of 1 ms until it is late, and commits them. @returns how many */
function slice(pace: SlicePace, clock: { ms: number }, commitMsPerRow: number): number {
  let rows = 0;
  pace.begin();
  do {
    rows++;
    clock.ms += 1;
  } while (!pace.isLate(rows));
  clock.ms += rows * commitMsPerRow;
  pace.committed(rows);
  return rows;
}

function paceOf(sliceMs: number) {
  const clock = { ms: 0 };
  return { clock, pace: new SlicePace(sliceMs, () => clock.ms) };
}

test("SlicePace leaves as much time for the commit as those before it took", () => {
  const { clock, pace } = paceOf(12);
  assert.equal(slice(pace, clock, 1), 12);
  let rows = 0;
  for (let i = 0; i < 10; i++) rows = slice(pace, clock, 1);
  assert.ok(rows === 6 || rows === 7);
});

test("SlicePace counts a slow commit at once, and forgets it slowly", () => {
  const { clock, pace } = paceOf(12);
  slice(pace, clock, 0);
  slice(pace, clock, 10);
  assert.equal(slice(pace, clock, 0), 2);
  const rows = Array.from({ length: 40 }, () => slice(pace, clock, 0));
  assert.deepEqual(
    rows,
    rows.toSorted((a, b) => a - b),
  );
  assert.equal(rows.at(-1), 12);
});

test("SlicePace lets every transaction write a row", () => {
  const { clock, pace } = paceOf(0);
  assert.equal(slice(pace, clock, 100), 1);
  assert.equal(slice(pace, clock, 100), 1);
});
