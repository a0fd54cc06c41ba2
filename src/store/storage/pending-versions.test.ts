import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { PendingVersions } from "./pending-versions.ts";
import { versionAt } from "./posting-list.ts";

const KEY_LENGTH = 20;
const KEYS = 400;
/** Some keys share so many bytes, most do not. */
const PREFIX_LENGTH = 4;

/** The same keys, as an attacker may choose them: they differ in few bits. */
function keyOf(index: number): Uint8Array {
  const key = new Uint8Array(KEY_LENGTH);
  key[index % KEY_LENGTH] = index >> 4;
  key[3] = index & 255;
  key[4] = index >> 8;
  return key;
}

/** Of 0 to 99 bytes; each seventh is a deletion. */
function valueAt(position: number): Uint8Array | undefined {
  return position % 7 === 0 ? undefined : new Uint8Array(position % 100).fill(position);
}

type Versions = [key: number, number: number, position: number][];

function assertEqual(pending: PendingVersions, model: Versions, written: ReadonlySet<number>) {
  assert.equal(pending.size, model.length);
  assert.equal(pending.keyCount, new Set(model.map(([key]) => key)).size);
  for (let index = 0; index < KEYS; index++) {
    const list = model.filter(([key]) => key === index).flatMap(([, ...version]) => version);
    const expected = written.has(index) ? [] : list;
    const key = keyOf(index);
    assert.equal(pending.has(key), expected.length > 0);
    for (const number of [0, 3, 7, 1_000]) {
      const version = versionAt(expected, number);
      assert.deepEqual(pending.versionAt(key, number), version && { ...version, value: valueAt(version.position) });
    }
  }
  const text = (key: Uint8Array) => Buffer.from(key).toString("hex");
  const unwritten = new Set(model.map(([key]) => key).filter((key) => !written.has(key)));
  assert.deepEqual(
    new Set(Array.from(pending.unwrittenKeys(), text)),
    new Set(Array.from(unwritten, (index) => text(keyOf(index)))),
  );
  for (let index = 0; index < KEYS; index++) {
    for (const length of [PREFIX_LENGTH - 1, PREFIX_LENGTH]) {
      const prefix = keyOf(index).subarray(0, length);
      const found = Array.from(pending.unwrittenKeysOf(prefix), text);
      const expected = Array.from(unwritten, (each) => text(keyOf(each))).filter((key) => key.startsWith(text(prefix)));
      assert.deepEqual(found.sort(), expected.sort());
    }
  }
  const rows = Array.from(pending.rowOrder(), (index) => text(pending.key(index)));
  assert.deepEqual(new Set(rows).size, pending.keyCount);
}

test("versions that come, go and are written are those of a list", () => {
  const operation = fc.oneof(
    { weight: 6, arbitrary: fc.record({ keys: fc.array(fc.nat(KEYS - 1), { maxLength: 120 }) }) },
    { weight: 1, arbitrary: fc.record({ back: fc.integer({ min: 1, max: 5 }) }) },
    { weight: 1, arbitrary: fc.record({ from: fc.nat(4) }) },
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 25 }), fc.nat(), (operations, seed) => {
      let pending = new PendingVersions({ keyLength: KEY_LENGTH, prefixLength: PREFIX_LENGTH });
      let model: Versions = [];
      let number = 0;
      for (const step of operations) {
        if ("keys" in step) {
          number++;
          for (const key of new Set(step.keys)) {
            const position = number * 1_000 + key;
            pending.add(keyOf(key), number, position, valueAt(position));
            model.push([key, number, position]);
          }
        } else if ("back" in step) {
          number = Math.max(0, number - step.back);
          pending.forgetAfter(number);
          model = model.filter(([, block]) => block <= number);
        } else {
          const first = number - step.from;
          pending = pending.from(first);
          model = model.filter(([, block]) => block >= first);
        }
      }
      assertEqual(pending, model, new Set());
      const order = pending.rowOrder();
      const written = order.slice(0, seed % (order.length + 1));
      const indexes = new Map(Array.from({ length: KEYS }, (_, i) => [keyOf(i).join(), i]));
      const names = new Set(Array.from(written, (i) => indexes.get(pending.key(i).join())!));
      for (const index of written) pending.setWritten(index);
      assertEqual(pending, model, names);
      // A rollback during a merge.
      pending.forgetAfter(number - 2);
      model = model.filter(([, block]) => block <= number - 2);
      assert.equal(pending.size, model.length);
      assert.equal(pending.keyCount, new Set(model.map(([key]) => key)).size);
    }),
    { numRuns: 60 },
  );
});
