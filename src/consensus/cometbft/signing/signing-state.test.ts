import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import {
  comparePositions,
  createSigningState,
  raiseSigningState,
  readSigningState,
  SIGNING_STATE_FILE,
} from "./signing-state.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "evmint-signing-"));
  mkdirSync(join(directory, "data"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const read = () => readFileSync(join(directory, SIGNING_STATE_FILE), "utf8");
const write = (value: unknown) => writeFileSync(join(directory, SIGNING_STATE_FILE), JSON.stringify(value));

test("positions are in the order in which a validator signs them", () => {
  const order = [
    { height: 0, round: 0, step: 0 },
    { height: 4, round: 3, step: 3 },
    { height: 5, round: 0, step: 1 },
    { height: 5, round: 0, step: 3 },
    { height: 5, round: 1, step: 1 },
  ];
  for (const [i, left] of order.entries()) {
    for (const [j, right] of order.entries()) {
      assert.equal(Math.sign(comparePositions(left, right)), Math.sign(i - j));
    }
  }
});

test("raising a signing state drops its signature, and one at or beyond the position is unchanged", () => {
  createSigningState(directory);
  assert.deepEqual(readSigningState(directory), { height: 0, round: 0, step: 0 });
  const position = { height: 7, round: 1, step: 2 };
  assert.equal(raiseSigningState(directory, position), true);
  assert.deepEqual(JSON.parse(read()), { height: "7", round: 1, step: 2 });
  assert.equal(statSync(join(directory, SIGNING_STATE_FILE)).mode & 0o777, 0o600);
  for (const earlier of [position, { ...position, step: 1 }, { height: 6, round: 9, step: 3 }]) {
    assert.equal(raiseSigningState(directory, earlier), false);
  }
  const signed = { height: "8", round: 0, step: 3, signature: "AA==", signbytes: "AB" };
  write(signed);
  assert.equal(raiseSigningState(directory, { height: 8, round: 0, step: 3 }), false);
  assert.deepEqual(JSON.parse(read()), signed);
  createSigningState(directory);
  assert.deepEqual(JSON.parse(read()), signed, "never made anew");
});

test("a file that is no signing state is an error, and nothing is raised", () => {
  const good = { height: "1", round: 0, step: 3 };
  const bad: readonly unknown[] = [
    null,
    [],
    "x",
    {},
    { ...good, height: 1 },
    { ...good, height: "-1" },
    { ...good, height: "1e3" },
    { ...good, round: -1 },
    { ...good, round: 0.5 },
    { ...good, step: 4 },
    { ...good, step: "3" },
  ];
  for (const value of bad) {
    write(value);
    assert.throws(() => readSigningState(directory), { code: "ENGINE_HOME" }, JSON.stringify(value));
    assert.throws(() => raiseSigningState(directory, { height: 9, round: 0, step: 3 }), { code: "ENGINE_HOME" });
    assert.equal(read(), JSON.stringify(value));
  }
});
