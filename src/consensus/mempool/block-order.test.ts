import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { BLOCK_ORDERS, BlockOrder, Heap } from "./block-order.ts";
import type { Entry } from "./entry.ts";

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

const LIMITS = { baseFee: 10n, minimumTip: 1n, blobBaseFee: 5n };

const offer = fc.record({
  tip: fc.integer({ min: 0, max: 6 }),
  isBlob: fc.boolean(),
});
const account = fc.integer({ min: 0, max: 4 });
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("append" as const), account, offer }) },
  fc.record({ kind: fc.constant("replace" as const), account, at: fc.nat(), offer }),
  fc.record({ kind: fc.constant("cut" as const), account, at: fc.nat() }),
);
/** Some are taken, some of them with the rest of their account, before the next changes. */
const round = fc.record({
  changes: fc.array(change, { maxLength: 6 }),
  taken: fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 8 }),
});

test("BlockOrder.update continues exactly where a new order would", () => {
  let wentOn = 0;
  let ended = 0;
  fc.assert(
    fc.property(fc.constantFrom(...BLOCK_ORDERS), fc.array(round, { maxLength: 8 }), (rule, rounds) => {
      const lists: Entry[][] = Array.from({ length: 5 }, () => []);
      let arrival = 0;
      const entryOf = (sender: number, { tip, isBlob }: { readonly tip: number; readonly isBlob: boolean }) => {
        const fees = { maxFeePerGas: 100n, maxPriorityFeePerGas: BigInt(tip), gasLimit: 21_000n };
        const tx = isBlob ? { type: 3, maxFeePerBlobGas: 5n, ...fees } : { type: 2, ...fees };
        return { tx, sender: `0x${sender}` as Address, arrival: arrival++ } as unknown as Entry;
      };
      const steps: { readonly entry: Entry; readonly goesOn: boolean }[] = [];
      const order = new BlockOrder(LIMITS, rule);
      for (const { changes, taken } of rounds) {
        for (const each of changes) {
          const list = lists[each.account]!;
          if (each.kind === "append") list.push(entryOf(each.account, each.offer));
          else if (each.kind === "cut") list.splice(each.at % (list.length + 1));
          else if (list.length > 0) list[each.at % list.length] = entryOf(each.account, each.offer);
        }
        const fresh = new BlockOrder(LIMITS, rule);
        assert.ok(fresh.update(lists));
        const comesAgain = steps.every(({ entry, goesOn }) => {
          if (fresh.peek() !== entry) return false;
          if (goesOn) fresh.next();
          else fresh.skipAccount();
          return true;
        });
        assert.equal(order.update(lists), comesAgain);
        if (!comesAgain) {
          ended++;
          return;
        }
        if (steps.length > 0) wentOn++;
        const rest = Array.from(fresh.ahead());
        assert.deepEqual(Array.from(order.ahead()), rest);
        for (const choice of taken) {
          const entry = order.peek() as Entry | undefined;
          assert.equal(entry, fresh.peek());
          if (entry === undefined) break;
          const goesOn = choice > 0;
          for (const each of [order, fresh]) goesOn ? each.next() : each.skipAccount();
          steps.push({ entry, goesOn });
        }
      }
    }),
    { numRuns: 2_000 },
  );
  assert.ok(wentOn > 100 && ended > 100, `${wentOn} went on, ${ended} ended`);
});
