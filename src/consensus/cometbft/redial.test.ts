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

test("a persistent peer that is missing for half a minute is dialed, with all others, and again half a minute later", async () => {
  const { at, dialed } = setup();
  for (const seconds of [0, 2, 29]) await at(seconds, [A]);
  assert.deepEqual(dialed, []);
  await at(30, [A]);
  await at(31, [A]);
  assert.deepEqual(dialed, [ADDRESSES]);
  await at(60, [A]);
  assert.equal(dialed.length, 2);
  await at(91, [A, B]);
  await at(92, [A]);
  assert.equal(dialed.length, 2);
});

test("a peer that this node refuses is not dialed, nor any while CometBFT does not answer", async () => {
  const { at, refused, dialed } = setup();
  refused.add(B);
  for (const seconds of [0, 40, 80]) await at(seconds, [A]);
  assert.deepEqual(dialed, []);
  refused.clear();
  await at(81, [A]);
  await at(110, undefined);
  await at(112, [A]);
  await at(141, [A]);
  assert.deepEqual(dialed, []);
  await at(142, [A]);
  assert.equal(dialed.length, 1);
});
