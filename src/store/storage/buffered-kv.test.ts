import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { FailingKv, InjectedCommitError } from "../../../test/support/store/storage/failing-kv.ts";
import { BufferedKv, type BufferLimits } from "./buffered-kv.ts";
import type { Kv, KvWriter } from "./kv.ts";
import { createMemoryKv } from "./memory-kv.ts";

const LIMITS: BufferLimits = { rowsMax: 30, bytesMax: 200, sliceRows: 8 };
const keyOf = (n: number) => Uint8Array.of(n & 3, n);
const rowsOf = (kv: Kv, reverse = false) =>
  Array.from(kv.range({ reverse }), ([key, value]) => [...key, ...value].join());

type Writes = readonly { readonly key: number; readonly value: number | null }[];

const write = fc.record({ key: fc.nat(40), value: fc.option(fc.nat(255)) });
const writes = fc.array(write, { maxLength: 12 });
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ later: writes, fails: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ through: writes }) },
  { weight: 2, arbitrary: fc.record({ back: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.constant({ slice: true as const }) },
  { weight: 1, arbitrary: fc.constant({ all: true as const }) },
);

function apply(writer: KvWriter, writes: Writes): void {
  for (const { key, value } of writes) {
    if (value === null) writer.remove(keyOf(key));
    else writer.put(keyOf(key), Uint8Array.of(value));
  }
}

describe("BufferedKv", () => {
  test("reads as if nothing waited, and its files are those of some transactions, whatever is written and undone", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const files = createMemoryKv();
        const kv = new BufferedKv(files, LIMITS);
        const model = createMemoryKv();
        /** After each transaction: the rows, and where both stores can go back to. */
        let states = [{ mark: kv.undo.mark(), modelMark: model.undo!.mark(), rows: rowsOf(model) }];
        /** The newest transaction that cannot be undone. */
        let fixed = 0;
        for (const step of steps) {
          if ("later" in step) {
            const work = () =>
              kv.buffer.transaction((writer) => {
                apply(writer, step.later);
                for (const { key } of step.later) {
                  const value: number | null = step.later.findLast((other) => other.key === key)!.value;
                  assert.deepEqual(writer.get(keyOf(key)), value === null ? undefined : Uint8Array.of(value));
                }
                if (step.fails) throw new RangeError();
              });
            if (step.fails) assert.throws(work, RangeError);
            else {
              work();
              model.transaction((writer) => apply(writer, step.later));
            }
            if (step.fails) continue;
          } else if ("through" in step) {
            for (const each of [kv, model]) each.transaction((writer) => apply(writer, step.through));
            assert.deepEqual(rowsOf(files), rowsOf(model));
            fixed = states.length;
          } else if ("slice" in step) {
            kv.buffer.writeSome();
          } else if ("all" in step) {
            kv.buffer.writeAll();
            assert.deepEqual(rowsOf(files), rowsOf(model));
          } else {
            const index = Math.max(0, states.length - 1 - step.back);
            const { mark, modelMark } = states[index]!;
            const isPossible = kv.undo.canUndoTo(mark);
            assert.ok(isPossible || index < states.length - 1 || index < fixed);
            if (index < fixed) assert.equal(isPossible, false);
            if (!isPossible) continue;
            kv.undo.undoTo(mark);
            model.undo!.undoTo(modelMark);
            states = states.slice(0, index + 1);
          }
          if ("later" in step || "through" in step) {
            states.push({ mark: kv.undo.mark(), modelMark: model.undo!.mark(), rows: rowsOf(model) });
          }
          assert.deepEqual(rowsOf(kv), rowsOf(model));
          assert.deepEqual(rowsOf(kv, true), rowsOf(model, true));
          const range = { from: keyOf(9), to: keyOf(27), limit: 5 };
          assert.deepEqual(Array.from(kv.range(range)), Array.from(model.range(range)));
          for (let n = 0; n <= 40; n++) assert.deepEqual(kv.get(keyOf(n)), model.get(keyOf(n)));
          const written = rowsOf(files).join(" ");
          assert.ok(states.some(({ rows }) => rows.join(" ") === written));
        }
        kv.sync();
        assert.deepEqual(rowsOf(files), rowsOf(model));
      }),
      { numRuns: 150 },
    );
  });

  test("writes the oldest transactions before more than twice its rows wait", () => {
    const files = new FailingKv(createMemoryKv());
    const kv = new BufferedKv(files, { rowsMax: 10, bytesMax: 1_000, sliceRows: 4 });
    const put = (n: number) => kv.buffer.transaction((writer) => writer.put(keyOf(n), Uint8Array.of(n)));
    for (let n = 0; n < 20; n++) put(n);
    assert.deepEqual([files.count, kv.buffer.isFull()], [0, true]);
    put(20);
    assert.equal(files.count, 1);
    assert.deepEqual(
      rowsOf(files),
      rowsOf(kv).filter((row) => Number(row.split(",")[1]) < 4),
    );
    while (kv.buffer.writeSome());
    assert.equal(kv.buffer.isFull(), false);
  });

  test("a commit that fails loses nothing, and is made again", () => {
    for (const failure of ["before", "after"] as const) {
      const files = new FailingKv(createMemoryKv(), { transaction: 0, failure });
      const kv = new BufferedKv(files, LIMITS);
      const mark = kv.undo.mark();
      kv.buffer.transaction((writer) => writer.put(keyOf(1), Uint8Array.of(1)));
      assert.throws(() => kv.transaction((writer) => writer.put(keyOf(2), Uint8Array.of(2))), InjectedCommitError);
      assert.deepEqual(rowsOf(kv), ["1,1,1"]);
      // The files may have it.
      assert.equal(kv.undo.canUndoTo(mark), false);
      kv.transaction((writer) => writer.put(keyOf(2), Uint8Array.of(2)));
      assert.deepEqual(rowsOf(files), ["1,1,1", "2,2,2"]);
    }
  });
});
