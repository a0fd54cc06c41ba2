import assert from "node:assert/strict";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../test/support/base/telemetry/strict-logger.ts";
import { Redial } from "./redial.ts";

const A = "aa".repeat(20);
const B = "bb".repeat(20);
const ADDRESSES = [`${A}@host:1`, `${B}@host:2`];

function setup() {
  const clock = { now: 0 };
  const refused = new Set<string>();
  const dialed: (readonly string[])[] = [];
  const redial = new Redial({
    persistent: () => ADDRESSES,
    mayConnect: (id) => !refused.has(id),
    async dial(addresses) {
      dialed.push(addresses);
      throw new Error("CometBFT does not answer");
    },
    now: () => clock.now,
    log: STRICT_LOGGER,
  });
  const at = (seconds: number, connected: readonly string[] | undefined) => {
    clock.now = seconds * 1_000;
    return redial.refresh(connected);
  };
  return { at, refused, dialed };
}

test("a persistent peer that is missing is dialed every 3 seconds, with all others, and after ten minutes twice a minute", async () => {
  const { at, dialed } = setup();
  for (const seconds of [0, 2]) await at(seconds, [A]);
  assert.deepEqual(dialed, []);
  await at(3, [A]);
  await at(5, [A]);
  assert.deepEqual(dialed, [ADDRESSES]);
  await at(6, [A]);
  assert.equal(dialed.length, 2);
  await at(600, [A]);
  for (const seconds of [603, 629]) await at(seconds, [A]);
  assert.equal(dialed.length, 3);
  await at(630, [A]);
  assert.equal(dialed.length, 4);
  await at(700, [A, B]);
  await at(701, [A]);
  assert.equal(dialed.length, 4);
  await at(704, [A]);
  assert.equal(dialed.length, 5);
});

test("a peer that this node refuses is not dialed, nor any while CometBFT does not answer", async () => {
  const { at, refused, dialed } = setup();
  refused.add(B);
  for (const seconds of [0, 40, 80]) await at(seconds, [A]);
  assert.deepEqual(dialed, []);
  refused.clear();
  await at(81, [A]);
  await at(83, undefined);
  await at(85, [A]);
  await at(87, [A]);
  assert.deepEqual(dialed, []);
  await at(88, [A]);
  assert.equal(dialed.length, 1);
});
