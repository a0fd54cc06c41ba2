import assert from "node:assert/strict";
import { test } from "node:test";
import { parse as parseToml } from "smol-toml";
import fc from "../../../test/support/fast-check.ts";
import * as types from "./value-types.ts";

/** What a TOML file with the printed literal gives the parser. */
function reread<T>(type: types.ValueType<T>, value: T): T | undefined {
  const { key } = parseToml(`key = ${type.print(value)}`);
  return type.parse(key as types.RawValue);
}

test("every value type reads back what it prints", () => {
  const size = fc.nat({ max: 2 ** 40 });
  const scaled = fc.oneof(size, size.map((n) => n * 1024).filter(Number.isSafeInteger));
  const check = <T>(type: types.ValueType<T>, values: fc.Arbitrary<T>) =>
    fc.assert(
      fc.property(values, (value) => {
        assert.deepEqual(reread(type, value), value);
      }),
    );
  check(types.boolean, fc.boolean());
  check(types.integer(0), fc.maxSafeNat());
  check(types.gas, fc.maxSafeNat().map(BigInt));
  check(types.gasTarget, fc.bigInt(1_000_000n, 2n ** 53n - 1n));
  check(types.byteSize, scaled);
  const milliseconds = fc.nat(2 ** 31 - 1);
  check(
    types.duration,
    fc.oneof(
      milliseconds,
      milliseconds.map((n) => n - (n % 1000)),
    ),
  );
  check(
    types.amount,
    fc.oneof(
      fc.bigInt(0n, 10n ** 29n),
      fc.nat().map((n) => BigInt(n) * 10n ** 9n),
    ),
  );
  check(types.text, fc.string());
  check(types.date, fc.nat({ max: 4_102_444_799 }));
  check(types.list, fc.uniqueArray(fc.string({ minLength: 1 }).filter((item) => item.trim() === item)));
  check(types.bytes(32), fc.uint8Array({ maxLength: 32 }));
  check(
    types.hostPort,
    fc.tuple(fc.constantFrom("::1", "a-b.example", "10.0.0.1"), fc.nat(65535)).map(([host, port]) => ({ host, port })),
  );
  check(
    types.blockTime,
    fc.oneof(
      fc.constantFrom("instant" as const, "manual" as const),
      fc.integer({ min: 1 }).map((intervalMs) => ({ intervalMs })),
      fc
        .tuple(fc.integer({ min: 1 }), fc.integer({ min: 1 }))
        .map(([a, b]) => ({ intervalMs: Math.min(a, b), emptyMs: Math.max(a, b) })),
    ),
  );
});

test("amount is exact: no amount goes through floating point", () => {
  assert.equal(types.amount.parse("0.000000000000000001ether"), 1n);
  assert.equal(types.amount.parse("123456789.123456789ether"), 123456789123456789n * 10n ** 9n);
  assert.equal(types.amount.parse("1.5"), undefined);
  assert.equal(types.amount.parse("0.1wei"), undefined);
});

test("a duration longer than a timer can wait is refused", () => {
  assert.equal(types.duration.parse("596h"), 596 * 3_600_000);
  assert.equal(types.duration.parse("600h"), undefined);
  assert.equal(types.blockTime.parse("600h"), undefined);
});

test("blockTime has the interval, and a longer one for empty blocks", () => {
  assert.deepEqual(types.blockTime.parse("1s/30s"), { intervalMs: 1_000, emptyMs: 30_000 });
  for (const wrong of ["30s/1s", "1s/", "/1s", "1s/2s/3s", "instant/1s", "1s/30", "0/1s"]) {
    assert.equal(types.blockTime.parse(wrong), undefined, wrong);
  }
  assert.equal(types.blockTime.print({ intervalMs: 1_000, emptyMs: 30_000 }), '"1s/30s"');
});

test("a duration without a unit is refused, zero apart", () => {
  assert.equal(types.duration.parse("0"), 0);
  assert.equal(types.duration.parse("5"), undefined);
  assert.equal(types.duration.parse(5), undefined);
  assert.equal(types.duration.parse("1.5s"), 1500);
});

test("ids and addresses of nodes are read in lower case, and nothing else is one", () => {
  const id = "aB".repeat(20);
  const lower = id.toLowerCase();
  assert.deepEqual(types.nodeIds.parse(`${id},${lower}`), [lower]);
  assert.deepEqual(types.nodeIds.parse([]), []);
  for (const raw of ["0x", `0x${id}`, id.slice(1), `${id}@host:1`, 3, [3]]) {
    assert.equal(types.nodeIds.parse(raw), undefined, String(raw));
  }
  const addresses = [`${lower}@host-1.example:26656`, `${lower}@[::1]:1`, `${lower}@10.0.0.1:65535`];
  assert.deepEqual(reread(types.nodeAddresses, addresses), addresses);
  assert.deepEqual(types.nodeAddresses.parse(`${id}@Host:1`), [`${lower}@Host:1`]);
  for (const raw of [id, `${id}@host`, `${id}@host:65536`, `${id}@:1`, `tcp://${id}@host:1`, `${id}@a b:1`, 3]) {
    assert.equal(types.nodeAddresses.parse(raw), undefined, String(raw));
  }
});

test("a date is a day, a second of UTC, or Unix seconds", () => {
  assert.equal(types.date.parse("2026-01-31"), 1_769_817_600);
  assert.equal(types.date.parse("2026-01-31T00:00:01Z"), 1_769_817_601);
  assert.equal(types.date.parse("1769817600"), 1_769_817_600);
  assert.equal(types.date.parse(0), 0);
  for (const refused of [
    "2026-02-30",
    "2026-13-01",
    "2026-01-31T00:00",
    "2100-01-01",
    "now",
    "",
    "-1",
    "1e9",
    -1,
    1.5,
  ]) {
    assert.equal(types.date.parse(refused), undefined, String(refused));
  }
});
