import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { ZERO_ADDRESS } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import type { Application, Time } from "../application.ts";
import type { BlockTime } from "./solo-engine.ts";
import { OwnProposalRejectedError, SoloEngine } from "./solo-engine.ts";

const PROPOSER_DATA = Uint8Array.of(0xbf);

/** An engine over an application that takes every waiting transaction into a block, as far as its proposal lets it. */
function engineOf(blockTime: BlockTime, { packsAhead = false, batchAbove = 0 } = {}) {
  const ahead: Time[] = [];
  const times: Time[] = [];
  const sizes: number[] = [];
  const errors: unknown[] = [];
  const listeners = new Set<() => void>();
  const timers = new ManualTimers();
  const clock = { now: { seconds: 1_000, nanos: 0 }, headTimestamp: 0 };
  let waiting = 0;
  let fault: Error | undefined;
  let isAccepted = true;
  let unpackedAttempts = 0;
  const stalls: unknown[] = [];
  const application: Application = {
    info: () => ({
      height: times.length,
      appHash: hashFromBigint(BigInt(times.length)),
      appVersion: 1,
    }),
    initChain: () => ({ appHash: hashFromBigint(0n) }),
    listSnapshots: () => [],
    loadSnapshotChunk: () => new Uint8Array(),
    offerSnapshot: () => "reject",
    applySnapshotChunk: () => ({ result: "abort", refetchChunks: [], rejectSenders: [] }),
    checkTx: () => ({ code: 0, log: "" }),
    insertTx: () => ({ code: 0 }),
    reapTxs: () => [],
    prepareProposal({ maxTxs = waiting }) {
      if (waiting > 0 && unpackedAttempts-- > 0) return [PROPOSER_DATA];
      return [PROPOSER_DATA, ...Array.from({ length: Math.min(waiting, maxTxs) }, () => Uint8Array.of(2))];
    },
    prepareAhead({ time }) {
      ahead.push(time);
      return false;
    },
    processProposal: () => isAccepted,
    finalizeBlock({ time, txs }) {
      if (fault) throw fault;
      times.push(time);
      sizes.push(txs.length - 1);
      waiting -= txs.length - 1;
      return { appHash: hashFromBigint(BigInt(times.length)), results: [], validatorUpdates: [] };
    },
    commit() {},
    engineLost() {},
  };
  const engine = new SoloEngine(
    {
      blockTime,
      batchAbove,
      proposer: ZERO_ADDRESS,
      onFatal: (error) => errors.push(error),
      isTemporary: (error) => error instanceof RangeError || error instanceof OwnProposalRejectedError,
      onStalled: (cause) => stalls.push(cause),
      retryMs: 1,
    },
    {
      application,
      onExecutable(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      executableCount: () => waiting,
      now: () => clock.now,
      headTimestamp: () => times.at(-1)?.seconds ?? clock.headTimestamp,
      packsAhead,
      timers,
    },
  );
  return {
    engine,
    timers,
    times,
    sizes,
    ahead,
    errors,
    stalls,
    listeners,
    clock,
    submit(count = 1) {
      waiting += count;
      for (const listener of listeners) listener();
    },
    rejectProposals() {
      isAccepted = false;
    },
    packNothing(attempts: number) {
      unpackedAttempts = attempts;
    },
    failWith(error: Error | undefined) {
      fault = error;
    },
  };
}

test("an instant engine makes one block for pending transactions, and none when there are none", async (t) => {
  const { engine, times, submit } = engineOf("instant");
  t.after(() => engine.stop());
  engine.start();
  await setImmediate();
  assert.equal(times.length, 0);
  submit();
  submit();
  await setImmediate();
  await setImmediate();
  assert.equal(times.length, 1);
});

test("instant blocks have one transaction each while few are pending, and all of them from there on until few are left", async (t) => {
  const { engine, sizes, submit } = engineOf("instant", { batchAbove: 16 });
  t.after(() => engine.stop());
  engine.start();
  submit(16);
  while (sizes.length < 16) await setImmediate();
  assert.deepEqual(sizes.splice(0), Array(16).fill(1));
  submit(17);
  await setImmediate();
  submit(3);
  await setImmediate();
  submit(2);
  await setImmediate();
  await setImmediate();
  assert.deepEqual(sizes, [17, 3, 1, 1]);
});

test("a block made by hand takes all pending transactions", () => {
  const { engine, sizes, submit } = engineOf("manual", { batchAbove: 16 });
  submit(5);
  engine.produceBlock();
  assert.deepEqual(sizes, [5]);
});

test("an instant engine tries again, after longer and longer pauses, while a block takes no pending transaction", async (t) => {
  const { engine, timers, times, submit, packNothing } = engineOf("instant");
  t.after(() => engine.stop());
  engine.start();
  await setImmediate();
  packNothing(3);
  submit();
  await setImmediate();
  for (const pauseMs of [1, 2, 4]) {
    assert.equal(times.length, 0);
    await timers.advance(pauseMs - 1);
    assert.equal(times.length, 0);
    await timers.advance(1);
  }
  assert.equal(times.length, 1);
});

test("an instant engine started twice subscribes once, and not at all after stop", async () => {
  const { engine, times, listeners, submit } = engineOf("instant");
  engine.start();
  engine.start();
  assert.equal(listeners.size, 1);
  submit();
  engine.stop();
  await setImmediate();
  assert.equal(times.length, 0);
  assert.equal(listeners.size, 0);
  engine.start();
  await setImmediate();
  assert.equal(times.length, 1);
  engine.stop();
});

test("an engine with an interval makes a block at each, empty or not, until it is stopped", () => {
  const { engine, timers, times } = engineOf({ intervalMs: 1_000 });
  engine.start();
  engine.start();
  timers.advanceSync(3_000);
  assert.equal(times.length, 3);
  engine.stop();
  timers.advanceSync(3_000);
  assert.equal(times.length, 3);
});

test("an engine with a longer interval for empty blocks skips those that are not due, and a transaction has its block at the next interval", (t) => {
  const { engine, timers, times, sizes, clock, submit } = engineOf({ intervalMs: 1_000, emptyMs: 5_000 });
  t.after(() => engine.stop());
  clock.headTimestamp = 999;
  engine.start();
  const tick = () => {
    clock.now = { seconds: clock.now.seconds + 1, nanos: 0 };
    timers.advanceSync(1_000);
  };
  for (let i = 0; i < 3; i++) tick();
  assert.deepEqual(sizes, []);
  tick();
  assert.deepEqual(
    times.map(({ seconds }) => seconds),
    [1_004],
  );
  tick();
  submit(2);
  tick();
  assert.deepEqual(
    times.map(({ seconds }) => seconds),
    [1_004, 1_006],
  );
  for (let i = 0; i < 5; i++) tick();
  assert.deepEqual(
    times.map(({ seconds }) => seconds),
    [1_004, 1_006, 1_011],
  );
  assert.deepEqual(sizes, [0, 2, 0]);
  engine.setMode({ automine: false, intervalMs: 1_000 });
  tick();
  assert.equal(sizes.length, 4);
});

test("a block of an interval is packed ahead for the time at which it is due", (t) => {
  const { engine, timers, times, ahead, clock, submit } = engineOf({ intervalMs: 2_000 }, { packsAhead: true });
  t.after(() => engine.stop());
  engine.start();
  submit();
  timers.advanceSync(1_000);
  assert.deepEqual(ahead, [], "the time of the first block is not known");
  clock.now = { seconds: 1_002, nanos: 600_000_000 };
  timers.advanceSync(1_000);
  submit();
  timers.advanceSync(500);
  assert.deepEqual(ahead, [{ seconds: 1_004, nanos: 600_000_000 }]);
  clock.now = { seconds: 1_004, nanos: 603_000_000 };
  timers.advanceSync(1_500);
  submit();
  timers.advanceSync(500);
  clock.now = { seconds: 1_009, nanos: 1 };
  timers.advanceSync(1_500);
  assert.deepEqual(times, [
    { seconds: 1_002, nanos: 600_000_000 },
    { seconds: 1_004, nanos: 600_000_000 },
    // The clock was set meanwhile.
    { seconds: 1_009, nanos: 1 },
  ]);
});

test("a block that cannot be made stops the engine and is reported once", async () => {
  const { engine, errors, submit, failWith } = engineOf("instant");
  const fault = new Error("disk");
  failWith(fault);
  engine.start();
  submit();
  await setImmediate();
  submit();
  await setImmediate();
  assert.deepEqual(errors, [fault]);
});

test("blocks on demand or of a second and more are at least a second apart, whatever the clock says", () => {
  for (const blockTime of ["manual", "instant", { intervalMs: 1_000 }] as const) {
    const { engine, times, clock } = engineOf(blockTime);
    clock.headTimestamp = 2_000;
    engine.produceBlock();
    clock.now = { seconds: 2_001, nanos: 5 };
    engine.produceBlock();
    clock.now = { seconds: 2_010, nanos: 7 };
    engine.produceBlock();
    assert.deepEqual(times, [
      { seconds: 2_001, nanos: 0 },
      { seconds: 2_002, nanos: 0 },
      { seconds: 2_010, nanos: 7 },
    ]);
  }
});

test("blocks configured below a second repeat seconds and never go back", () => {
  const { engine, times, clock } = engineOf({ intervalMs: 100 });
  clock.headTimestamp = 2_000;
  engine.produceBlock();
  clock.now = { seconds: 2_000, nanos: 5 };
  engine.produceBlock();
  assert.deepEqual(times, [{ seconds: 2_000, nanos: 0 }, clock.now]);
});

test("a proposal the application rejects is tried again and reported once", async (t) => {
  const { engine, timers, errors, stalls, submit, rejectProposals } = engineOf("instant");
  t.after(() => engine.stop());
  rejectProposals();
  engine.start();
  submit();
  await setImmediate();
  // Ten more tries.
  await timers.advance(10);
  assert.deepEqual(
    [errors, stalls.map((stall) => (stall as OwnProposalRejectedError).code)],
    [[], ["CONSENSUS_OWN_PROPOSAL_REJECTED"]],
  );
});

test("an engine tries a block again after a temporary failure, and reports when blocks stop and resume", async (t) => {
  for (const blockTime of ["instant", { intervalMs: 5 }] as const) {
    const { engine, timers, times, errors, stalls, submit, failWith } = engineOf(blockTime);
    t.after(() => engine.stop());
    const full = new RangeError("the disk is full");
    failWith(full);
    engine.start();
    submit();
    await timers.advance(20);
    assert.deepEqual([times.length, errors, stalls], [0, [], [full]]);
    failWith(undefined);
    await timers.advance(5);
    assert.ok(times.length > 0);
    assert.deepEqual(stalls, [full, undefined]);
    engine.stop();
  }
});
