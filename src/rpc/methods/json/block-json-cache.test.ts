import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { SharedSlices } from "../../../base/threads/shared-slices.ts";
import { blockText, blockTextInSteps } from "./block-json.ts";
import { BlockJsonCache } from "./block-json-cache.ts";
import { receiptsText, receiptsTextInSteps } from "./receipt-json.ts";

const style = { nullPowFields: false };
/** A step of a text takes a millisecond. */
const slices = new SharedSlices(new ManualTimers({ msPerLook: 1 }));
const small = createTestModules().blocks[1]!;
const times = <T>(items: readonly T[]) => Array.from({ length: 3_000 }, (_, i) => items[i % items.length]!);
/** So large that its text takes more than a slice. */
const large = {
  ...small,
  block: { ...small.block, transactions: times(small.block.transactions) },
  senders: times(small.senders),
  receipts: times(small.receipts),
};
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test("a large block is written in slices, as it is in one piece, and once it is written it is there at once", async () => {
  const cache = new BlockJsonCache({ bytesMax: 1 << 30, ...style }, slices);
  for (const form of ["hashes", "full", "receipts"] as const) {
    const wanted = form === "receipts" ? receiptsText(large) : blockText(large, form === "full", style);
    const [first, second] = await Promise.all([cache.get(large, form), cache.get(large, form)]);
    assert.equal(text(first), wanted);
    assert.equal(text(second), wanted);
    const known = cache.get(large, form);
    assert.ok(!(known instanceof Promise));
    assert.equal(cache.getAtOnce(large, form), known);
  }
  assert.ok(new BlockJsonCache({ bytesMax: 1, ...style }, slices).get(large, "full") instanceof Promise);
});

test("the text of a large pending block and of its receipts is that of a sealed one without what it has not", async () => {
  const cache = new BlockJsonCache({ bytesMax: 1 << 20, ...style }, slices);
  assert.equal(await cache.pendingText(large, true), blockText(large, true, { ...style, isPending: true }));
  assert.equal(await cache.pendingReceipts(large), receiptsText(large));
});

test("what two callers wrote at the same time counts once against the memory", async () => {
  const bytes = blockText(large, true, style).length;
  const cache = new BlockJsonCache({ bytesMax: bytes + 100_000, ...style }, slices);
  await Promise.all([cache.get(large, "full"), cache.get(large, "full")]);
  const known = cache.getAtOnce(large, "full");
  cache.getAtOnce(small, "hashes");
  assert.equal(cache.getAtOnce(large, "full"), known);
});

test("large transactions and receipts are a step each, small ones some tens of them", () => {
  const data = new Uint8Array(120_000);
  const transactions = times([{ ...small.block.transactions[0]!, data }]).slice(0, 40);
  const [receipt] = small.receipts;
  const log = { address: small.senders[0]!, topics: [], data };
  const heavy = {
    ...small,
    block: { ...small.block, transactions },
    senders: transactions.map(() => small.senders[0]!),
    receipts: transactions.map(() => ({ ...receipt!, logs: [log] })),
  };
  const stepsOf = (steps: Iterator<unknown>) => {
    let count = 0;
    while (!steps.next().done) count++;
    return count;
  };
  assert.ok(stepsOf(blockTextInSteps(heavy, true, style)) >= 40);
  assert.ok(stepsOf(receiptsTextInSteps(heavy)) >= 40);
  assert.ok(stepsOf(blockTextInSteps(large, true, style)) <= large.block.transactions.length / 20);
});
