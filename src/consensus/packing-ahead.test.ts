import assert from "node:assert/strict";
import { test } from "node:test";
import type { BegunBlock } from "./pack-transactions.ts";
import { PackingAhead } from "./pack-transactions.ts";

/** A block whose packing becomes stale when it is resumed. */
function begunBlock(): BegunBlock {
  const packing = {
    isStale: false,
    isWaiting: false,
    runs: 0,
    runAhead() {
      packing.isStale = packing.runs++ > 0;
      return false;
    },
  };
  return { packing, builder: { prefetchTrie: () => false } } as unknown as BegunBlock;
}

test("blocks whose order keeps changing are begun ahead less and less often, at least once in 64", () => {
  const ahead = new PackingAhead();
  const begun: number[] = [];
  for (let number = 0; number < 400; number++) {
    const begin = () => {
      begun.push(number);
      return begunBlock();
    };
    ahead.extend(`${number}`, begin, 1);
    ahead.extend(`${number}`, begin, 1);
    assert.equal(ahead.take(`${number}`), undefined);
  }
  assert.deepEqual(begun, [0, 1, 3, 7, 15, 31, 63, 127, 191, 255, 319, 383]);
});

test("a begun block is taken once, by its key alone", () => {
  const ahead = new PackingAhead();
  const block = begunBlock();
  ahead.extend("a", () => block, 1);
  assert.equal(ahead.take("a")?.packing, block.packing);
  assert.equal(ahead.take("a"), undefined);
  ahead.extend("a", () => block, 1);
  assert.equal(ahead.take("b"), undefined);
});
