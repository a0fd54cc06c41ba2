import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../../test/support/fast-check.ts";
import { LatestValues } from "./latest-values.ts";

const KEY_LENGTH = 20;
const VALUE_MAX = 44;

function keyOf(index: number): Uint8Array {
  const key = new Uint8Array(KEY_LENGTH);
  new DataView(key.buffer).setUint32(KEY_LENGTH - 4, index);
  return key;
}

/** Rows that count how often they are read. */
function createRows() {
  const values = new Map<string, Uint8Array>();
  let reads = 0;
  return {
    values,
    reads: () => reads,
    latest(key: Uint8Array) {
      reads++;
      return values.get(key.join());
    },
  };
}

test("values are those of the rows, whatever is written and read and however small the memory is", () => {
  const value = fc.option(fc.uint8Array({ maxLength: VALUE_MAX + 6 }), { nil: undefined });
  const operation = fc.record({ key: fc.nat(300), write: fc.boolean(), value });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 600 }), fc.nat(30_000), (operations, bytesMax) => {
      const rows = createRows();
      const latest = new LatestValues(rows, { keyLength: KEY_LENGTH, valueMax: VALUE_MAX }, bytesMax);
      for (const { key, write, value } of operations) {
        const bytes = keyOf(key);
        if (write) {
          if (value === undefined) rows.values.delete(bytes.join());
          else rows.values.set(bytes.join(), value);
          latest.set(bytes, value);
        }
        const expected = rows.values.get(bytes.join());
        const found = latest.latest(bytes);
        assert.deepEqual(found && Array.from(found), expected && Array.from(expected));
        assert.ok(latest.bytes <= Math.max(bytesMax, 4 * (1 + KEY_LENGTH + VALUE_MAX)));
      }
    }),
    { numRuns: 60 },
  );
});

test("what fits the memory is read once", () => {
  const rows = createRows();
  const latest = new LatestValues(rows, { keyLength: KEY_LENGTH, valueMax: VALUE_MAX }, 1 << 20);
  for (let i = 0; i < 2_000; i++) if (i % 3 > 0) rows.values.set(keyOf(i).join(), Uint8Array.of(i));
  for (let round = 0; round < 3; round++) for (let i = 0; i < 2_000; i++) latest.latest(keyOf(i));
  // A set of four lines can be full while others are empty.
  assert.ok(rows.reads() < 2_000 * 1.5, `${rows.reads()}`);
});
