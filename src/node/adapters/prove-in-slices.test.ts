import assert from "node:assert/strict";
import { test } from "node:test";
import { ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { bigintToFixedBytes } from "../../base/primitives/bytes.ts";
import { type Hash, hashFromBytes, ZERO_HASH } from "../../base/primitives/hash.ts";
import { fatalTimers } from "../../base/telemetry/fatal-timers.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import { proveInSlices } from "./prove-in-slices.ts";

const SLOTS = Array.from({ length: 1024 }, (_, n) => hashFromBytes(bigintToFixedBytes(BigInt(n), 32)));
const BLOCK = { number: 7, hash: hashFromBytes(bigintToFixedBytes(7n, 32)) };

/** A chain on which the proof of a slot takes 1 ms, with a clock and turns that the test counts. */
function setup() {
  const state = { nowMs: 0, turns: 0, hash: BLOCK.hash, longestMs: 0 };
  let begunMs = 0;
  const slices = new SharedSlices({
    now: () => state.nowMs,
    deferred: (where, work) =>
      fatalTimers.deferred(where, () => {
        state.turns++;
        begunMs = state.nowMs;
        work();
      }),
  });
  const reader = {
    blockHash: () => state.hash,
    proof(_address: string, slots: readonly Hash[], number: number) {
      assert.equal(number, 7);
      state.nowMs += slots.length;
      state.longestMs = Math.max(state.longestMs, state.nowMs - begunMs);
      const storageProofs = slots.map((slot) => ({ slot, value: BigInt(slot), proof: [] }));
      return { accountProof: [], storageRoot: ZERO_HASH, storageProofs };
    },
  };
  return { state, slices, reader };
}

test("a proof of many slots is whole, in order, and leaves every turn after a slice", async () => {
  const { state, slices, reader } = setup();
  const prove = () => proveInSlices(reader, BLOCK, { address: ZERO_ADDRESS, slots: SLOTS }, slices);
  const proofs = await Promise.all([prove(), prove()]);
  for (const { storageProofs } of proofs) {
    assert.deepEqual(
      storageProofs.map(({ slot }) => slot),
      SLOTS,
    );
  }
  assert.ok(state.turns > 20);
  // The slice of 3 ms and one group of slots after it.
  assert.ok(state.longestMs <= 20, `${state.longestMs} ms in one turn`);
});

test("a few slots are proved at once", () => {
  const { slices, reader } = setup();
  const slots = SLOTS.slice(0, 3);
  const proof = proveInSlices(reader, BLOCK, { address: ZERO_ADDRESS, slots }, slices);
  assert.ok(!(proof instanceof Promise));
  assert.equal(proof.storageProofs.length, 3);
});

test("a block that is rolled back between two slices ends the proof", async () => {
  const { state, slices, reader } = setup();
  const proof = proveInSlices(reader, BLOCK, { address: ZERO_ADDRESS, slots: SLOTS }, slices);
  state.hash = ZERO_HASH;
  await assert.rejects(async () => proof, { code: "RPC_UNKNOWN_BLOCK" });
});
