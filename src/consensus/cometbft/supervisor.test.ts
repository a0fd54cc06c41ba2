import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENT_LOGGER } from "../../telemetry/logger.ts";
import {
  type EngineExit,
  type EngineFault,
  type EngineProcess,
  faultOf,
} from "./engine-process.ts";
import { Supervisor, type SupervisorOptions } from "./supervisor.ts";

const OPTIONS: SupervisorOptions = {
  stallMs: 30_000,
  firstPauseMs: 1_000,
  longestPauseMs: 8_000,
  equalFaultsMax: 3,
  stopGraceMs: 10,
};

/** A supervisor whose processes and clock the test drives. */
function createTestSupervisor() {
  const runs: {
    end(exit?: Partial<EngineExit>): Promise<void>;
    fault(fault: EngineFault): void;
    stops: number;
  }[] = [];
  const timers = new Set<{ readonly ms: number; readonly task: () => void }>();
  const rollbacks: number[] = [];
  const world: { height: number; hasQuorum: boolean; rollbackFault?: Error } = {
    height: 12,
    hasQuorum: true,
  };
  const supervisor = new Supervisor(OPTIONS, {
    start(onFault) {
      let resolve: (exit: EngineExit) => void;
      const exited = new Promise<EngineExit>((done) => {
        resolve = done;
      });
      let seen: EngineFault | undefined;
      const run = {
        stops: 0,
        async end(exit: Partial<EngineExit> = {}) {
          resolve({ code: 0, signal: null, fault: seen, ...exit });
          await exited;
        },
        fault(fault: EngineFault) {
          seen = fault;
          onFault(fault);
        },
      };
      runs.push(run);
      return {
        pid: runs.length,
        exited,
        fault: () => seen,
        async stop() {
          run.stops++;
          await run.end();
        },
      } satisfies EngineProcess;
    },
    height: () => world.height,
    rollbackTo(height) {
      if (world.rollbackFault) throw world.rollbackFault;
      rollbacks.push(height);
    },
    hasQuorum: () => world.hasQuorum,
    log: SILENT_LOGGER,
    timers: {
      after(ms, task) {
        const timer = { ms, task };
        timers.add(timer);
        return () => timers.delete(timer);
      },
    },
  });
  /** Lets the one timer of `ms` go off. */
  function fire(ms: number): void {
    const due = [...timers].filter((timer) => timer.ms === ms);
    assert.equal(due.length, 1, `one timer of ${ms} ms among ${[...timers].map((t) => t.ms)}`);
    timers.delete(due[0]!);
    due[0]!.task();
  }
  return { supervisor, runs, timers, rollbacks, world, fire };
}

const AHEAD: EngineFault = { kind: "applicationAhead", engineHeight: 9 };
const BEHIND: EngineFault = { kind: "applicationBehind", height: 3, engineBase: 9 };
const FAILURE: EngineFault = { kind: "consensusFailure", text: "wrong Block.Header.AppHash" };

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

test("an application ahead of the engine is rolled back, once", async () => {
  const { supervisor, runs, rollbacks, fire } = createTestSupervisor();
  supervisor.start();
  runs[0]!.fault(AHEAD);
  await runs[0]!.end({ code: 1 });
  fire(1_000);
  runs[1]!.fault(AHEAD);
  await runs[1]!.end({ code: 1 });
  assert.deepEqual(rollbacks, [9]);
});

test("a rollback that fails leaves the engine down with the reason", async () => {
  const { supervisor, runs, world } = createTestSupervisor();
  world.rollbackFault = new Error("store is poisoned");
  supervisor.start();
  runs[0]!.fault(AHEAD);
  await runs[0]!.end({ code: 1 });
  assert.equal(supervisor.state.kind, "failed");
});

test("an application that needs blocks which the engine has pruned leaves it down at once", async () => {
  const { supervisor, runs, timers } = createTestSupervisor();
  supervisor.start();
  runs[0]!.fault(BEHIND);
  await runs[0]!.end({ code: 1 });
  const { state } = supervisor;
  assert.equal(state.kind, "failed");
  assert.match(state.kind === "failed" ? state.reason : "", /block 3, .* is 9:/);
  assert.equal(timers.size, 0);
});

test("a consensus failure stops the living process, and three at one height leave it down", async () => {
  const { supervisor, runs, fire } = createTestSupervisor();
  supervisor.start();
  for (const pause of [1_000, 2_000]) {
    runs.at(-1)!.fault(FAILURE);
    await runs.at(-1)!.end();
    assert.equal(runs.at(-1)!.stops, 1);
    fire(pause);
  }
  runs.at(-1)!.fault(FAILURE);
  await runs.at(-1)!.end();
  const { state } = supervisor;
  assert.equal(state.kind, "failed");
  assert.match(state.kind === "failed" ? state.reason : "", /AppHash/);
});

test("an engine whose disk is full is tried for ever", async () => {
  const { supervisor, runs, fire } = createTestSupervisor();
  supervisor.start();
  for (const pause of [1_000, 2_000, 4_000, 8_000, 8_000]) {
    runs.at(-1)!.fault({ kind: "diskFull", text: "no space left on device" });
    await runs.at(-1)!.end();
    assert.equal(supervisor.state.kind, "restarting");
    fire(pause);
  }
});

test("equal failures at different heights do not add up", async () => {
  const { supervisor, runs, world, fire } = createTestSupervisor();
  supervisor.start();
  for (const pause of [1_000, 2_000, 4_000, 8_000]) {
    world.height++;
    runs.at(-1)!.fault(FAILURE);
    await runs.at(-1)!.end();
    fire(pause);
  }
  assert.equal(supervisor.state.kind, "running");
});

test("a living engine without blocks is restarted when a quorum is there, and left alone when it is not", async () => {
  const { supervisor, runs, world, fire } = createTestSupervisor();
  supervisor.start();
  world.hasQuorum = false;
  fire(OPTIONS.stallMs);
  assert.equal(runs[0]!.stops, 0);
  world.hasQuorum = true;
  fire(OPTIONS.stallMs);
  assert.equal(runs[0]!.stops, 1);
});

test("a node that stops does not start its engine again", async () => {
  const { supervisor, runs, timers } = createTestSupervisor();
  supervisor.start();
  await supervisor.stop();
  assert.equal(runs[0]!.stops, 1);
  assert.equal(supervisor.state.kind, "stopped");
  assert.equal(timers.size, 0);
});

test("the lines of CometBFT v0.40 that matter are recognised", () => {
  const line = (fields: object) => JSON.stringify({ level: "error", module: "main", ...fields });
  assert.deepEqual(
    faultOf(
      "failed to create node: error on replay: app block height (12) is higher than core (9)",
    ),
    AHEAD,
  );
  assert.deepEqual(
    faultOf("error on replay: app block height (3) is too far below block store base (9)"),
    BEHIND,
  );
  assert.deepEqual(
    faultOf(line({ _msg: "CONSENSUS FAILURE!!!", err: "wrong Block.Header.AppHash" })),
    {
      kind: "consensusFailure",
      text: "CONSENSUS FAILURE!!!: wrong Block.Header.AppHash",
    },
  );
  const reason = "+2/3 prevoted for an invalid block: wrong Block.Header.AppHash";
  const panic = { kind: "consensusFailure", text: `panic: ${reason}` };
  assert.deepEqual(faultOf(`panic: ${reason}`), panic);
  assert.equal(faultOf(line({ _msg: "prevoting nil", err: reason })), undefined);
  const full = { _msg: "CONSENSUS FAILURE!!!", err: "write cs.wal: no space left on device" };
  assert.deepEqual(faultOf(line(full)), {
    kind: "diskFull",
    text: "CONSENSUS FAILURE!!!: write cs.wal: no space left on device",
  });
  assert.equal(faultOf(line({ _msg: "Stopping peer for error" })), undefined);
});
