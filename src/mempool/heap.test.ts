import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../test/support/fast-check.ts";
import { Heap } from "./block-order.ts";

test("Heap gives its items in order, however they came in", () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.array(fc.integer()), (first, later) => {
      const heap = new Heap<number>((a, b) => a < b, first);
      for (const item of later) heap.push(item);
      const sorted = [...first, ...later].sort((a, b) => a - b);
      assert.equal(heap.size, sorted.length);
      for (const item of sorted) {
        assert.equal(heap.peek(), item);
        assert.equal(heap.pop(), item);
      }
      assert.equal(heap.pop(), undefined);
    }),
  );
});

test("Heap.replaceTop is a pop and a push", () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), fc.integer(), (items, item) => {
      const heap = new Heap<number>((a, b) => a < b, items);
      heap.replaceTop(item);
      const rest = [...items].sort((a, b) => a - b).slice(1);
      const popped = Array.from({ length: items.length }, () => heap.pop());
      assert.deepEqual(
        popped,
        [...rest, item].sort((a, b) => a - b),
      );
    }),
  );
});
