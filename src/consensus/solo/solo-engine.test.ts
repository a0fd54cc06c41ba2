import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import { ZERO_ADDRESS } from "../../primitives/address.ts";
import { hashFromBigint } from "../../primitives/hash.ts";
import type { Application, Time } from "../application.ts";
import { type BlockTime, createSoloEngine } from "./solo-engine.ts";

const PROPOSER_DATA = Uint8Array.of(0xbf);

/** An engine over an application that takes every waiting transaction into a block. */
function engineOf(blockTime: BlockTime) {
  const times: Time[] = [];
  const errors: unknown[] = [];
  const listeners = new Set<() => void>();
  const clock = { now: { seconds: 1_000, nanos: 0 }, head: { seconds: 0, nanos: 0 } };
  let waiting = 0;
  let fault: Error | undefined;
  const stalls: unknown[] = [];
  const application: Application = {
    info: () => ({ height: times.length, appHash: hashFromBigint(BigInt(times.length)) }),
    checkTx: () => ({ code: 0, log: "" }),
    insertTx: () => ({ code: 0 }),
    reapTxs: () => [],
    prepareProposal() {
      return waiting > 0 ? [PROPOSER_DATA, Uint8Array.of(2)] : [PROPOSER_DATA];
    },
    processProposal: () => true,
    finalizeBlock({ time }) {
      if (fault) throw fault;
      times.push(time);
      waiting = 0;
      return { appHash: hashFromBigint(BigInt(times.length)), results: [], validatorUpdates: [] };
    },
    commit: () => ({ retainHeight: 0 }),
    engineLost() {},
  };
  const engine = createSoloEngine(
    {
      blockTime,
      proposer: ZERO_ADDRESS,
      onFatal: (error) => errors.push(error),
      isTemporary: (error) => error instanceof RangeError,
      onStalled: (cause) => stalls.push(cause),
      retryMs: 1,
    },
    {
      application,
      onExecutable(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      hasExecutable: () => waiting > 0,
      now: () => clock.now,
      headTime: () => clock.head,
    },
  );
  return {
    engine,
    times,
    errors,
    stalls,
    listeners,
    clock,
    submit() {
      waiting++;
      for (const listener of listeners) listener();
    },
    failWith(error: Error | undefined) {
      fault = error;
    },
  };
}

test("an instant engine makes one block for what waits, and none when nothing does", async (t) => {
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

test("an instant engine that is started again hears of each transaction once, and after stop of none", async () => {
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

test("an engine with an interval makes a block at each, empty or not, until it is stopped", (t) => {
  t.mock.timers.enable({ apis: ["setInterval"] });
  const { engine, times } = engineOf({ intervalMs: 1_000 });
  engine.start();
  engine.start();
  t.mock.timers.tick(3_000);
  assert.equal(times.length, 3);
  engine.stop();
  t.mock.timers.tick(3_000);
  assert.equal(times.length, 3);
});

test("a block that cannot be made stops the engine and is told once", async () => {
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

test("the time of a block never goes back behind the head's", () => {
  const { engine, times, clock } = engineOf("manual");
  clock.head = { seconds: 2_000, nanos: 0 };
  engine.produceBlock();
  clock.now = { seconds: 2_000, nanos: 5 };
  engine.produceBlock();
  assert.deepEqual(times, [clock.head, clock.now]);
});

test("an engine tries a block again after a failure that passes, and tells when blocks stop and go on", async (t) => {
  for (const blockTime of ["instant", { intervalMs: 5 }] as const) {
    const { engine, times, errors, stalls, submit, failWith } = engineOf(blockTime);
    t.after(() => engine.stop());
    const full = new RangeError("the disk is full");
    failWith(full);
    engine.start();
    submit();
    while (stalls.length === 0) await setTimeout(1);
    await setTimeout(20);
    assert.deepEqual([times.length, errors, stalls], [0, [], [full]]);
    failWith(undefined);
    while (times.length === 0) await setTimeout(1);
    assert.deepEqual(stalls, [full, undefined]);
    engine.stop();
  }
});
