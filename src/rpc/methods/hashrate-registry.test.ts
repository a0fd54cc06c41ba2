import assert from "node:assert/strict";
import { test } from "node:test";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { HashrateRegistry } from "./sessions.ts";

const [FIRST, SECOND] = [hashFromBigint(1n), hashFromBigint(2n)];

test("HashrateRegistry sums the last report of each miner", () => {
  const registry = new HashrateRegistry(() => 0);
  assert.equal(registry.total(), 0n);
  registry.report(FIRST, 5n);
  registry.report(SECOND, 7n);
  registry.report(FIRST, 6n);
  assert.equal(registry.total(), 13n);
});

test("HashrateRegistry forgets a miner ten seconds after its last report", () => {
  let now = 0;
  const registry = new HashrateRegistry(() => now);
  registry.report(FIRST, 5n);
  now = 9_000;
  registry.report(SECOND, 7n);
  now = 10_000;
  assert.equal(registry.total(), 7n);
  registry.report(SECOND, 8n);
  now = 19_999;
  assert.equal(registry.total(), 8n);
});

test("HashrateRegistry keeps a bounded number of miners", () => {
  const registry = new HashrateRegistry(() => 0);
  for (let i = 0n; i < 1_005n; i++) registry.report(hashFromBigint(i), 1n);
  assert.equal(registry.total(), 1_000n);
});
