import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../base/primitives/address.ts";
import { LongCalls } from "./long-calls.ts";

const to = `0x${"ab".repeat(20)}` as Address;
const dataOf = (n: number) => Uint8Array.of(n >> 8, n & 0xff);

test("a long call is known for a while, and only the same one", () => {
  let nowMs = 0;
  const calls = new LongCalls(() => nowMs);
  const args = { to, data: dataOf(1) };
  assert.ok(!calls.has("call", args));
  calls.note("call", args, 50);
  assert.ok(calls.has("call", { to, input: dataOf(1) }));
  for (const other of [{ to, data: dataOf(2) }, { to }, { data: dataOf(1) }, { ...args, gas: 1n }, undefined]) {
    assert.ok(!calls.has("call", other));
  }
  assert.ok(!calls.has("estimateGas", args));
  nowMs += 9_999;
  assert.ok(calls.has("call", args));
  nowMs += 1;
  assert.ok(!calls.has("call", args));
  calls.note("call", args, 50);
  calls.note("call", args, 9);
  assert.ok(!calls.has("call", args));
});

test("the oldest of too many long calls are forgotten, and those with much data never known", () => {
  const calls = new LongCalls(() => 0);
  const count = 1_001;
  for (let n = 0; n < count; n++) calls.note("call", { to, data: dataOf(n) }, 50);
  assert.ok(!calls.has("call", { to, data: dataOf(0) }));
  assert.ok(calls.has("call", { to, data: dataOf(1) }));
  const large = { to, data: new Uint8Array(513) };
  calls.note("call", large, 50);
  assert.ok(!calls.has("call", large));
});
