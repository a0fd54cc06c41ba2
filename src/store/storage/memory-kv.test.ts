import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { createMemoryKv } from "./memory-kv.ts";

const keyOf = (n: number) => Uint8Array.of(n >> 8, n & 255);
const rowsOf = (kv: ReturnType<typeof createMemoryKv>, reverse = false) =>
  Array.from(kv.range({ reverse }), ([key, value]) => [...key, ...value].join());

describe("undo of the store in memory", () => {
  test("brings back the rows of any earlier mark, after any writes, removals and failed transactions", () => {
    const write = fc.record({ key: fc.nat(300), value: fc.option(fc.nat(255)) });
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.record({ writes: fc.array(write), fails: fc.boolean() }) },
      { weight: 1, arbitrary: fc.record({ back: fc.nat(20) }) },
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const kv = createMemoryKv();
        const states = [{ mark: kv.undo!.mark(), rows: [] as string[] }];
        for (const step of steps) {
          if ("back" in step) {
            states.length = Math.max(1, states.length - step.back);
            kv.undo!.undoTo(states.at(-1)!.mark);
          } else {
            const work = () =>
              kv.transaction((writer) => {
                for (const { key, value } of step.writes) {
                  if (value === null) writer.remove(keyOf(key));
                  else writer.put(keyOf(key), Uint8Array.of(value));
                }
                if (step.fails) throw new RangeError();
              });
            if (step.fails) assert.throws(work, RangeError);
            else work();
            if (!step.fails) states.push({ mark: kv.undo!.mark(), rows: rowsOf(kv) });
          }
          assert.deepEqual(rowsOf(kv), states.at(-1)!.rows);
          assert.deepEqual(rowsOf(kv, true), states.at(-1)!.rows.toReversed());
        }
      }),
      { numRuns: 60 },
    );
  });

  test("rows stay in order and complete while most keys come and go", () => {
    const kv = createMemoryKv();
    for (let round = 0; round < 4; round++) {
      kv.transaction((writer) => {
        for (let n = 0; n < 5_000; n++) writer.put(keyOf((n * 7_919) % 65_536), Uint8Array.of(n));
      });
      const left = 3 + round;
      kv.transaction((writer) => {
        for (let n = left; n < 5_000; n++) writer.remove(keyOf((n * 7_919) % 65_536));
      });
      const keys = Array.from({ length: left }, (_, n) => (n * 7_919) % 65_536);
      const found = Array.from(kv.range({}), ([key]) => (key[0]! << 8) | key[1]!);
      assert.deepEqual(
        found,
        keys.toSorted((a, b) => a - b),
      );
    }
  });

  test("the oldest writes are forgotten, so memory is bounded; their marks are not accepted", () => {
    const kv = createMemoryKv();
    const first = kv.undo!.mark();
    for (let i = 0; i < 160; i++) {
      kv.transaction((writer) => {
        for (let n = 0; n < 1_000; n++) writer.put(keyOf(n), Uint8Array.of(i));
      });
    }
    assert.equal(kv.undo!.canUndoTo(first), false);
    const last = kv.undo!.mark();
    assert.equal(kv.undo!.canUndoTo(last - 1_000), true);
    kv.undo!.undoTo(last - 1_000);
    assert.equal(kv.get(keyOf(5))![0], 158);
    assert.equal(kv.undo!.canUndoTo(last), false);
  });
});
