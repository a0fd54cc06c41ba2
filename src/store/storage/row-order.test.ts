import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { byKey, byPrefix, inRowOrder, keyPrefix } from "./row-order.ts";

test("byPrefix orders keys as their first 29 bits do, each once", () => {
  const key = fc.uint8Array({ minLength: 4, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(key, { maxLength: 60 }), (keys) => {
      const order = Array.from(byPrefix(keys.length, (i) => keyPrefix(keys[i]!)));
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        Array.from(keys.keys()),
      );
      const prefixes = order.map((i) => Buffer.from(keys[i]!).readUInt32BE() >>> 3);
      assert.deepEqual(
        prefixes,
        prefixes.toSorted((a, b) => a - b),
      );
    }),
  );
});

test("inRowOrder orders keys of an account and a slot by both", () => {
  const part = fc.constantFrom(0, 1, 7, 0x80, 0xff);
  fc.assert(
    fc.property(fc.array(fc.tuple(part, part), { maxLength: 60 }), (parts) => {
      const keys = parts.map(([address, slot]) => {
        const key = new Uint8Array(52).fill(address, 0, 20);
        return key.fill(slot, 20);
      });
      const order = inRowOrder(keys, (key) => key);
      assert.deepEqual(order, keys.toSorted(Buffer.compare));
    }),
  );
});

test("byPrefix orders many keys as a stable sort does", () => {
  const prefixes = Array.from({ length: 100_000 }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 16);
  const order = Array.from(byPrefix(prefixes.length, (i) => prefixes[i]! << 13));
  const expected = Array.from(prefixes.keys()).sort((a, b) => prefixes[a]! - prefixes[b]!);
  assert.deepEqual(order, expected);
});

test("byKey orders a part of the keys as they compare", () => {
  const key = fc.array(fc.nat(2), { minLength: 6, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(key, { minLength: 1, maxLength: 60 }), fc.nat(5), (keys, skipped) => {
      const from = Math.min(skipped, keys.length - 1);
      const order = Array.from(byKey(Uint8Array.from(keys.flat()), 6, from, keys.length));
      assert.deepEqual(
        order.toSorted((a, b) => a - b),
        Array.from(keys.keys()).slice(from),
      );
      const sorted = order.map((i) => keys[i]!.join(""));
      assert.deepEqual(sorted, sorted.toSorted());
    }),
  );
});
