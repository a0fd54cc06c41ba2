import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import fc from "../../../test/support/fast-check.ts";
import type { Address } from "../../base/primitives/address.ts";
import { UnlockedKeys } from "./unlocked-keys.ts";

const alice = `0x${"a1".repeat(20)}` as Address;
const bob = `0x${"b0".repeat(20)}` as Address;
const isWiped = (key: Uint8Array) => key.every((byte) => byte === 0);
const newKey = () => new Uint8Array(32).fill(7);

function setup() {
  const clock = new ManualTimers();
  return { clock, keys: new UnlockedKeys(clock) };
}

test("UnlockedKeys keeps a key for its time and wipes it then", () => {
  const { clock, keys } = setup();
  const key = newKey();
  keys.hold(alice, key, 300_000);
  clock.advanceSync(299_999);
  assert.equal(keys.get(alice), key);
  clock.advanceSync(1);
  assert.equal(keys.get(alice), undefined);
  assert.ok(isWiped(key));
});

test("UnlockedKeys goes by the clock, not by the timer", () => {
  const { clock, keys } = setup();
  const key = newKey();
  keys.hold(alice, key, 1000);
  clock.jump(1000);
  assert.equal(keys.get(alice), undefined);
  assert.ok(isWiped(key));
  assert.equal(clock.waiting.length, 0);
});

test("UnlockedKeys keeps a key without duration until the end", () => {
  const { clock, keys } = setup();
  const key = newKey();
  keys.hold(alice, key, undefined);
  clock.advanceSync(1e12);
  assert.equal(keys.get(alice), key);
  keys.lockAll();
  assert.equal(keys.get(alice), undefined);
  assert.ok(isWiped(key));
});

test("UnlockedKeys starts the time anew, longer or shorter, but never shortens an indefinite one", () => {
  const { clock, keys } = setup();
  keys.hold(alice, newKey(), 1000);
  const second = newKey();
  keys.hold(alice, second, 5000);
  clock.advanceSync(4999);
  assert.equal(keys.get(alice), second);
  keys.hold(alice, newKey(), 10);
  clock.advanceSync(10);
  assert.equal(keys.get(alice), undefined);

  const forever = newKey();
  keys.hold(bob, forever, undefined);
  const brief = newKey();
  keys.hold(bob, brief, 10);
  clock.advanceSync(100);
  assert.equal(keys.get(bob), forever);
  assert.ok(isWiped(brief));
});

test("UnlockedKeys: a lock wins over an unlocking that began before it", () => {
  const { keys } = setup();
  const begun = keys.beginUnlock(alice);
  keys.lock(alice);
  const key = newKey();
  assert.equal(keys.hold(alice, key, 1000, begun), false);
  assert.ok(isWiped(key));
  assert.equal(keys.get(alice), undefined);
  assert.equal(keys.hold(alice, newKey(), 1000, keys.beginUnlock(alice)), true);
});

test("UnlockedKeys agrees with a model for any sequence of steps", () => {
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("hold" as const),
      ms: fc.option(fc.integer({ min: 1, max: 50 })),
    }),
    fc.record({ kind: fc.constant("lock" as const), ms: fc.constant(null) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 60 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const { clock, keys } = setup();
      const made: Uint8Array[] = [];
      let until = 0;
      for (const { kind, ms } of steps) {
        if (kind === "hold") {
          const key = newKey();
          made.push(key);
          keys.hold(alice, key, ms ?? undefined);
          if (until !== Number.POSITIVE_INFINITY || clock.now() >= until) {
            until = ms === null ? Number.POSITIVE_INFINITY : clock.now() + ms;
          }
        } else if (kind === "lock") {
          keys.lock(alice);
          until = 0;
        } else clock.advanceSync(ms ?? 0);
        const isHeld = clock.now() < until;
        assert.equal(keys.get(alice) !== undefined, isHeld);
        assert.equal(made.filter((key) => !isWiped(key)).length, isHeld ? 1 : 0);
      }
    }),
  );
});
