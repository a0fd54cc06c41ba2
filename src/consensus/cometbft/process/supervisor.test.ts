import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../../test/support/base/telemetry/manual-timers.ts";
import { SILENT_LOGGER } from "../../../base/telemetry/logger.ts";
import type { Quorum } from "../rpc/engine-view.ts";
import type { EngineExit, EngineFault, EngineProcess } from "./engine-process.ts";
import { StoreRollback } from "./store-rollback.ts";
import { Supervisor, type SupervisorOptions } from "./supervisor.ts";

const OPTIONS: SupervisorOptions = {
  stallMs: 30_000,
  stallsMax: 3,
  firstPauseMs: 1_000,
  longestPauseMs: 8_000,
  equalFaultsMax: 3,
  stopGraceMs: 10,
};

type TestSupervisor = ReturnType<typeof createTestSupervisor>;

/** A supervisor whose processes and clock the test drives. */
function createTestSupervisor(random = () => 0.5) {
  const runs: {
    end(exit?: Partial<EngineExit>): Promise<void>;
    /** A record of the log of the living process. */
    log(fault: EngineFault): void;
    /** Known at the end of the process. */
    fault?: EngineFault;
    stops: number;
  }[] = [];
  const timers = new ManualTimers();
  const rollbacks: number[] = [];
  const caughtUpFrom: number[] = [];
  const world: {
    height: number;
    storeHeight: number;
    oldest: number;
    quorum: Quorum;
    setAsideFault?: Error;
    catchUpFault?: Error;
    startFault?: Error;
  } = {
    height: 12,
    storeHeight: 9,
    oldest: 0,
    quorum: "present",
  };
  const supervisor = new Supervisor(OPTIONS, {
    start(onFault) {
      if (world.startFault) throw world.startFault;
      let resolve: (exit: EngineExit) => void;
      const exited = new Promise<EngineExit>((done) => {
        resolve = done;
      });
      const run: (typeof runs)[number] = {
        stops: 0,
        async end(exit: Partial<EngineExit> = {}) {
          resolve({ code: 0, signal: null, fault: run.fault, ...exit });
          await exited;
        },
        log(fault: EngineFault) {
          run.fault = fault;
          onFault(fault);
        },
      };
      runs.push(run);
      return {
        pid: runs.length,
        exited,
        async stop() {
          run.stops++;
          await run.end();
        },
      } satisfies EngineProcess;
    },
    height: () => world.height,
    storeRollback: new StoreRollback(
      { initialHeight: 5, blocksMax: 4 },
      {
        height: () => world.height,
        oldest: () => world.oldest,
        storeHeight: async () => world.storeHeight,
        async setAside() {
          if (world.setAsideFault) throw world.setAsideFault;
          return "file";
        },
        rollbackTo(height) {
          rollbacks.push(height);
          world.height = height;
        },
        catchUpFrom(height) {
          caughtUpFrom.push(height);
          if (world.catchUpFault) throw world.catchUpFault;
          world.height = height;
        },
        log: SILENT_LOGGER,
      },
    ),
    quorum: () => world.quorum,
    log: SILENT_LOGGER,
    random,
    timers,
  });
  /** What follows the end of a run takes some turns. */
  async function settled(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await setImmediate();
  }
  const waits = () => timers.waiting.map(({ inMs }) => inMs);
  /** Lets the one timer of `ms` go off. */
  function fire(ms: number): void {
    assert.deepEqual(waits(), [ms]);
    timers.advanceSync(ms);
  }
  return { supervisor, runs, waits, rollbacks, caughtUpFrom, world, fire, settled };
}

/** At the chance that the supervisor of a test draws. */
const STALL_MS = 1.5 * OPTIONS.stallMs;

const AHEAD: EngineFault = { kind: "applicationAhead", storeHeight: 9 };
const BEHIND: EngineFault = { kind: "applicationBehind", height: 3, storeBase: 9 };
const FAILURE: EngineFault = { kind: "consensusFailure", text: "wrong Block.Header.AppHash" };

test("an engine that cannot be configured is an error at the start, and later tried again", async () => {
  const { supervisor, runs, world, fire } = createTestSupervisor();
  world.startFault = new Error("no space left on device");
  assert.throws(() => supervisor.start(), world.startFault);
  delete world.startFault;
  supervisor.start();
  await runs[0]!.end();
  world.startFault = new Error("no space left on device");
  fire(1_000);
  assert.deepEqual(supervisor.state, { kind: "restarting", restarts: 2, reason: "no space left on device" });
  delete world.startFault;
  fire(2_000);
  assert.equal(supervisor.state.kind, "running");
  assert.equal(runs.length, 2);
});

test("every exit is answered by a restart, also status 0, with pauses that double up to the longest", async () => {
  const { supervisor, runs, fire } = createTestSupervisor();
  supervisor.start();
  for (const pause of [1_000, 2_000, 4_000, 8_000, 8_000]) {
    await runs.at(-1)!.end();
    assert.equal(supervisor.state.kind, "restarting");
    fire(pause);
    assert.equal(supervisor.state.kind, "running");
  }
  assert.equal(runs.length, 6);
  supervisor.committed();
  await runs.at(-1)!.end();
  fire(1_000);
  assert.equal(supervisor.restartsTotal, 6);
});

test("an application ahead of the engine is rolled back, once, so that the last block of the engine is executed again", async () => {
  const { supervisor, runs, rollbacks, world, fire, settled } = createTestSupervisor();
  supervisor.start();
  runs[0]!.fault = AHEAD;
  await runs[0]!.end({ code: 1 });
  await settled();
  fire(1_000);
  assert.deepEqual(rollbacks, [8]);
  world.height = 12;
  runs[1]!.fault = AHEAD;
  await runs[1]!.end({ code: 1 });
  await settled();
  assert.deepEqual(rollbacks, [8]);
  assert.equal(supervisor.state.kind, "failed");
});

test("an application that begins with the last block of the engine is rolled back to that", async () => {
  const { supervisor, runs, rollbacks, world, settled } = createTestSupervisor();
  world.oldest = 9;
  supervisor.start();
  runs[0]!.fault = AHEAD;
  await runs[0]!.end({ code: 1 });
  await settled();
  assert.deepEqual(rollbacks, [9]);
});

const REFUSED: Readonly<Record<string, Partial<TestSupervisor["world"]>>> = {
  "its store has another height than it named": { storeHeight: 8 },
  "its store does not end before the chain": { height: 9 },
  "there are more blocks than may be removed, and the chain has pruned some": {
    height: 14,
    catchUpFault: new Error("pruned"),
  },
  "they cannot be set aside": { setAsideFault: new Error("disk full") },
};
for (const [why, world] of Object.entries(REFUSED)) {
  test(`nothing is rolled back and the engine stays down where ${why}`, async () => {
    const { supervisor, runs, rollbacks, waits, settled, ...test } = createTestSupervisor();
    Object.assign(test.world, world);
    supervisor.start();
    runs[0]!.fault = AHEAD;
    await runs[0]!.end({ code: 1 });
    await settled();
    assert.deepEqual(rollbacks, []);
    assert.equal(supervisor.state.kind, "failed");
    assert.deepEqual(waits(), []);
  });
}

for (const [why, heights, from] of [
  ["of which more are to be removed than may be", { height: 14, storeHeight: 9 }, 8],
  ["that it has not decided", { height: 5, storeHeight: 3 }, 4],
] as const) {
  test(`blocks ${why} stay, and the engine gets those after block ${from} again`, async () => {
    const { supervisor, runs, rollbacks, caughtUpFrom, world, fire, settled } = createTestSupervisor();
    Object.assign(world, heights);
    supervisor.start();
    runs[0]!.fault = { kind: "applicationAhead", storeHeight: heights.storeHeight };
    await runs[0]!.end({ code: 1 });
    await settled();
    assert.deepEqual(rollbacks, []);
    assert.deepEqual(caughtUpFrom, [from]);
    fire(1_000);
    assert.equal(supervisor.state.kind, "running");
  });
}

test("an application that needs blocks which the engine has pruned leaves it down at once", async () => {
  const { supervisor, runs, waits } = createTestSupervisor();
  supervisor.start();
  runs[0]!.fault = BEHIND;
  await runs[0]!.end({ code: 1 });
  const { state } = supervisor;
  assert.equal(state.kind, "failed");
  assert.match(state.kind === "failed" ? state.reason : "", /block 3, .* is 9:/);
  assert.deepEqual(waits(), []);
});

test("a consensus failure stops the living process, and three at one height leave it down", async () => {
  const { supervisor, runs, fire } = createTestSupervisor();
  supervisor.start();
  for (const pause of [1_000, 2_000]) {
    runs.at(-1)!.log(FAILURE);
    await runs.at(-1)!.end();
    assert.equal(runs.at(-1)!.stops, 1);
    fire(pause);
  }
  runs.at(-1)!.log(FAILURE);
  await runs.at(-1)!.end();
  const { state } = supervisor;
  assert.equal(state.kind, "failed");
  assert.match(state.kind === "failed" ? state.reason : "", /AppHash/);
});

test("an engine whose disk is full is tried for ever", async () => {
  const { supervisor, runs, fire } = createTestSupervisor();
  supervisor.start();
  for (const pause of [1_000, 2_000, 4_000, 8_000, 8_000]) {
    runs.at(-1)!.log({ kind: "diskFull", text: "no space left on device" });
    await runs.at(-1)!.end();
    assert.equal(supervisor.state.kind, "restarting");
    fire(pause);
  }
});

test("an engine that waits for its remote signer is started each second, for ever", async () => {
  const { supervisor, runs, fire } = createTestSupervisor();
  supervisor.start();
  for (let attempt = 0; attempt < 10; attempt++) {
    await runs.at(-1)!.end({ code: 1, fault: { kind: "signerMissing" } });
    assert.equal(supervisor.state.kind, "restarting");
    fire(1_000);
  }
});

test("equal failures at different heights do not add up", async () => {
  const { supervisor, runs, world, fire } = createTestSupervisor();
  supervisor.start();
  for (const pause of [1_000, 2_000, 4_000, 8_000]) {
    world.height++;
    runs.at(-1)!.log(FAILURE);
    await runs.at(-1)!.end();
    fire(pause);
  }
  assert.equal(supervisor.state.kind, "running");
});

for (const quorum of ["present", "unknown"] as const) {
  test(`a living engine without blocks is restarted late while a quorum is ${quorum}`, () => {
    const { supervisor, runs, world, fire } = createTestSupervisor();
    supervisor.start();
    world.quorum = quorum;
    for (let stall = 1; stall < OPTIONS.stallsMax; stall++) fire(STALL_MS);
    assert.equal(runs[0]!.stops, 0);
    fire(STALL_MS);
    assert.equal(runs[0]!.stops, 1);
  });
}

test("a living engine without blocks is left alone while no quorum votes", () => {
  const { supervisor, runs, world, fire } = createTestSupervisor();
  supervisor.start();
  world.quorum = "absent";
  for (let stall = 0; stall < 5 * OPTIONS.stallsMax; stall++) fire(STALL_MS);
  assert.equal(runs[0]!.stops, 0);
});

test("looks at engines of several nodes are spread over the time of one look", () => {
  const waits = [0, 0.25, 0.999].map((fraction) => {
    const { supervisor, waits } = createTestSupervisor(() => fraction);
    supervisor.start();
    return waits()[0];
  });
  assert.deepEqual(waits, [30_000, 37_500, 59_970]);
});

test("an engine that is given up is ended, and started no more", async () => {
  const { supervisor, runs, waits, settled } = createTestSupervisor();
  supervisor.start();
  supervisor.giveUp("the network has other forks");
  supervisor.giveUp("again");
  await settled();
  assert.equal(runs[0]!.stops, 1);
  assert.equal(runs.length, 1);
  assert.deepEqual(supervisor.state, { kind: "failed", reason: "the network has other forks" });
  assert.deepEqual(waits(), []);
});

test("an engine that cannot check evidence about blocks before its snapshot stays down, with advice", async () => {
  const { supervisor, runs, waits, settled } = createTestSupervisor();
  supervisor.start();
  runs[0]!.log({ kind: "evidenceBeforeStore", text: "don't have header #12" });
  await settled();
  assert.equal(runs.length, 1);
  assert.ok(supervisor.state.kind === "failed");
  assert.match(supervisor.state.reason, /header #12.*start from a newer snapshot/);
  assert.deepEqual(waits(), []);
});

test("an engine that is to be started again ends, and starts without a pause; its next end is a failure", async () => {
  const { supervisor, runs, waits, fire, settled } = createTestSupervisor();
  supervisor.start();
  supervisor.restart();
  await settled();
  assert.deepEqual([runs.length, supervisor.state.kind, supervisor.restartsTotal], [2, "running", 0]);
  await runs[1]!.end();
  assert.equal(runs.length, 2);
  supervisor.restart();
  assert.deepEqual(waits(), [1_000], "it is down already");
  fire(1_000);
  await runs[2]!.end();
  assert.equal(supervisor.state.kind, "restarting", "a restart from before does not count");
});

test("a node that stops does not start its engine again", async () => {
  const { supervisor, runs, waits } = createTestSupervisor();
  supervisor.start();
  await supervisor.stop();
  assert.equal(runs[0]!.stops, 1);
  assert.equal(supervisor.state.kind, "stopped");
  assert.deepEqual(waits(), []);
});
