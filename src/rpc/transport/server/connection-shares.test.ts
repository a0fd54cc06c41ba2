import assert from "node:assert/strict";
import { test } from "node:test";
import { ConnectionShares } from "./connection-shares.ts";

const ALL = () => true;

function holding(max: number, held: Readonly<Record<string, number>>): ConnectionShares<string> {
  const shares = new ConnectionShares<string>(max);
  for (const [address, count] of Object.entries(held)) {
    for (let i = 0; i < count; i++) shares.add(address, `${address}#${i}`);
  }
  return shares;
}

test("ConnectionShares: an address alone may hold all", () => {
  const shares = holding(10, { "10.0.0.1": 10 });
  assert.equal(shares.isExceeded("10.0.0.1"), false);
  assert.equal(shares.replaceableBy("10.0.0.1", ALL), undefined);
  shares.add("10.0.0.1", "one more");
  assert.equal(shares.isExceeded("10.0.0.1"), true);
});

test("ConnectionShares: another address takes the place of the oldest of whoever holds most, up to its share", () => {
  const shares = holding(10, { "10.0.0.1": 9, "10.0.0.2": 1 });
  assert.equal(shares.isExceeded("10.0.0.1"), true);
  assert.equal(shares.isExceeded("10.0.0.2"), false);
  assert.equal(shares.replaceableBy("10.0.0.3", ALL), "10.0.0.1#0");
  assert.equal(
    shares.replaceableBy("10.0.0.2", (each) => each !== "10.0.0.1#0"),
    "10.0.0.1#1",
  );
  assert.equal(
    shares.replaceableBy("10.0.0.3", () => false),
    undefined,
  );
  assert.equal(shares.replaceableBy("10.0.0.1", ALL), undefined);
  const equal = holding(10, { "10.0.0.1": 5, "10.0.0.2": 5 });
  assert.equal(equal.replaceableBy("10.0.0.2", ALL), undefined);
});

test("ConnectionShares: addresses of one network of IPv6 are one holder, those of IPv4 in either form too", () => {
  const shares = holding(4, { "2001:db8::1": 2, "2001:db8:0:0:ffff::2": 2, "::ffff:10.0.0.1": 1 });
  assert.equal(shares.isExceeded("2001:db8::9"), true);
  assert.equal(shares.isExceeded("2001:db8:0:1::1"), false);
  shares.delete("10.0.0.1", "::ffff:10.0.0.1#0");
  assert.equal(shares.isExceeded("2001:db8::"), false);
  const many = holding(4, { "::1": 2, "1::": 2, "::ffff:0:1": 1 });
  assert.equal(many.isExceeded("::2"), true);
});
