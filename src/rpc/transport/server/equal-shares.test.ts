import assert from "node:assert/strict";
import { test } from "node:test";
import { EqualShares } from "./equal-shares.ts";

test("one address may hold all, and others then an equal share each, up to twice the limit", () => {
  const shares = new EqualShares(12);
  const take = (address: string, count: number) => {
    let taken = 0;
    for (; taken < count && shares.mayTake(address, 1); taken++) shares.add(address, 1);
    return taken;
  };
  assert.equal(take("10.0.0.1", 20), 12);
  assert.equal(take("10.0.0.2", 20), 6);
  assert.equal(take("10.0.0.1", 1), 0);
  assert.equal(take("10.0.0.3", 20), 4);
  assert.equal(take("10.0.0.4", 20), 2);
  assert.equal(shares.total, 24);
  assert.equal(take("10.0.0.5", 1), 0);
  // The one that had all gives some back: those that are new have their share of it.
  shares.add("10.0.0.1", -4);
  assert.equal(take("10.0.0.1", 1), 0);
  assert.equal(take("10.0.0.5", 20), 2);
  for (const [address, count] of [
    ["10.0.0.1", 8],
    ["10.0.0.2", 6],
    ["10.0.0.3", 4],
    ["10.0.0.4", 2],
    ["10.0.0.5", 2],
  ] as const) {
    shares.add(address, -count);
  }
  assert.equal(take("10.0.0.1", 20), 12);
});

test("an amount that is more than a share is not taken, and networks of IPv6 are one holder", () => {
  const shares = new EqualShares(10);
  shares.add("2001:db8::1", 10);
  assert.equal(shares.mayTake("2001:db8::2", 1), false);
  assert.equal(shares.mayTake("2001:db9::1", 5), true);
  assert.equal(shares.mayTake("2001:db9::1", 6), false);
});
