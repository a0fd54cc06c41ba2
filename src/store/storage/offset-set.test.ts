import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import {
  commonOffsets,
  countOffsets,
  encodeOffsets,
  hasOffset,
  offsetsBetween,
  offsetsFrom,
  offsetsUpTo,
  unionOffsets,
  withOffsets,
} from "./offset-set.ts";

const ALL = [0, 65_535] as const;
const ascending = (numbers: Iterable<number>) => [...new Set(numbers)].sort((a, b) => a - b);

/** Sparse sets, and dense ones that are stored as bits. */
const offsets = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 65_535 }), { maxLength: 40 }).map(ascending),
  fc
    .tuple(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: 1, max: 6 }))
    .map(([start, step]) =>
      Array.from({ length: 4_200 }, (_, i) => start + i * step).filter((offset) => offset < 65_536),
    ),
);

test("an offset set gives back its members, whichever form it is stored in", () => {
  fc.assert(
    fc.property(offsets, fc.integer({ min: 0, max: 65_535 }), (members, probe) => {
      const set = encodeOffsets(members);
      assert.deepEqual(offsetsBetween(set, ...ALL), members);
      assert.equal(countOffsets(set), members.length);
      assert.equal(hasOffset(set, probe), members.includes(probe));
      assert.deepEqual(
        offsetsBetween(offsetsUpTo(set, probe), ...ALL),
        members.filter((offset) => offset <= probe),
      );
      assert.deepEqual(
        offsetsBetween(offsetsFrom(set, probe), ...ALL),
        members.filter((offset) => offset >= probe),
      );
    }),
    { numRuns: 60 },
  );
});

test("union, addition and intersection are those of sets", () => {
  fc.assert(
    fc.property(offsets, offsets, offsets, (a, b, c) => {
      const [setA, setB, setC] = [a, b, c].map(encodeOffsets) as [Uint8Array, Uint8Array, Uint8Array];
      assert.deepEqual(offsetsBetween(unionOffsets([setA, setB, setC]), ...ALL), ascending([...a, ...b, ...c]));
      assert.deepEqual(offsetsBetween(withOffsets(setA, b), ...ALL), ascending([...a, ...b]));
      const inB = new Set(b);
      const [low, high] = [1_000, 50_000];
      assert.deepEqual(
        commonOffsets([setA, setB], low, high),
        a.filter((offset) => inB.has(offset) && offset >= low && offset <= high),
      );
    }),
    { numRuns: 60 },
  );
});

test("4,095 members are a list, one more makes a bitset of the same length", () => {
  const members = Array.from({ length: 4_096 }, (_, i) => i * 16);
  assert.equal(encodeOffsets(members.slice(0, 4_095)).length, 8_190);
  assert.equal(encodeOffsets(members).length, 8_192);
  assert.deepEqual(offsetsBetween(encodeOffsets(members), ...ALL), members);
});
