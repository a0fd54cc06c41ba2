import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { LogFilter } from "../../../chain/logs/log-filter.ts";
import type { Connection } from "../../transport/dispatch/context.ts";
import { TooManyError } from "../../transport/errors.ts";
import { LogFeed } from "./log-feed.ts";
import { Notifier } from "./notifier.ts";
import { Subscriber } from "./subscriber.ts";

const TERMS_MAX = 12;
const ALL = { from: 0, to: Number.POSITIVE_INFINITY };
const [ALICE, BOB] = ["192.0.2.1", "192.0.2.2"];

const connection: Connection = {
  notify() {},
  deliver: async () => {},
  overrun() {},
  onClose() {},
};

/** Of so many addresses from the first one on. */
function filterOf(first: number, terms: number): LogFilter {
  const addresses = Array.from(
    { length: terms },
    (_, i) => `0x${(first + i).toString(16).padStart(40, "0")}` as Address,
  );
  return new LogFilter({ addresses });
}

function createFeed() {
  const notifier = new Notifier({ queueCharsMax: 1_000_000, onError: assert.ifError }, new ManualTimers());
  const feed = new LogFeed({ termsMax: TERMS_MAX }, notifier);
  return (address: string, first: number, terms: number) =>
    feed.add(new Subscriber("eth", "0x1", connection, address), filterOf(first, terms), ALL);
}

test("an address that has all terms of logs subscriptions leaves others their share, and gets no more", () => {
  const subscribe = createFeed();
  const ends = [subscribe(ALICE, 0, TERMS_MAX)];
  assert.throws(() => subscribe(ALICE, 100, 1), TooManyError);
  ends.push(subscribe(BOB, 200, TERMS_MAX / 2));
  assert.throws(() => subscribe(BOB, 300, 1), TooManyError);
  for (const end of ends) end();
  subscribe(BOB, 400, TERMS_MAX);
});

test("equal filters cost their terms once, and the subscriber that stays goes on paying for them", () => {
  const subscribe = createFeed();
  const ofAlice = [subscribe(ALICE, 0, TERMS_MAX), subscribe(ALICE, 0, TERMS_MAX)];
  const ofBob = subscribe(BOB, 0, TERMS_MAX);
  ofAlice[0]!();
  assert.throws(() => subscribe(ALICE, 100, 1), TooManyError);
  ofAlice[1]!();
  assert.throws(() => subscribe(BOB, 200, 1), TooManyError);
  const other = subscribe(ALICE, 300, TERMS_MAX / 2);
  assert.throws(() => subscribe(ALICE, 400, 1), TooManyError);
  ofBob();
  other();
  subscribe(ALICE, 500, TERMS_MAX)();
  assert.throws(() => subscribe(ALICE, 600, TERMS_MAX + 1), TooManyError);
});
