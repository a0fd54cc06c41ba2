import assert from "node:assert/strict";
import { test } from "node:test";
import type { Hash } from "../primitives/hash.ts";
import { createEntry, type Entry } from "./entry.ts";
import { PriceOrder } from "./price-order.ts";
import { testAccount, transfer } from "./testing/pool-fixture.ts";

test("PriceOrder lets go of entries that left the pool, also without a new head", () => {
  const alice = testAccount(0);
  const pool = new Map<Hash, Entry>();
  const order = new PriceOrder(pool);
  order.takeCheapest(1);
  for (let nonce = 0; nonce < 1_000; nonce++) {
    const entry = createEntry(transfer(alice, nonce), nonce);
    pool.clear();
    pool.set(entry.tx.hash, entry);
    order.add(entry);
    assert.ok(order.heldEntries <= 66, `${order.heldEntries}`);
  }
  const [cheapest] = order.takeCheapest(1) ?? [];
  assert.equal(cheapest?.tx.nonce, 999n);
});
