import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import type { Failures } from "./failures.ts";
import { createTimers, type Timers } from "./timers.ts";

const BUG = new TypeError("bug");

/** Real timers, or those of tests, and how a test moves their clock. */
type Clock = { readonly timers: Timers; readonly reports: [string, unknown][]; advance(ms: number): Promise<void> };

function reporter() {
  const reports: [string, unknown][] = [];
  const failures: Pick<Failures, "report"> = {
    report(where, error) {
      reports.push([where, error]);
      return "internal";
    },
  };
  return { reports, failures };
}

function realTimers(): Clock & Disposable {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { reports, failures } = reporter();
  const timers = createTimers(failures);
  return {
    timers,
    reports,
    async advance(ms) {
      await setImmediate();
      mock.timers.tick(ms);
      await setImmediate();
    },
    [Symbol.dispose]: () => mock.timers.reset(),
  };
}

function manualTimers(): Clock & Disposable {
  const { reports, failures } = reporter();
  const timers = new ManualTimers({ failures });
  return { timers, reports, advance: (ms) => timers.advance(ms), [Symbol.dispose]() {} };
}

for (const [name, create] of [
  ["createTimers", realTimers],
  ["ManualTimers", manualTimers],
] as const) {
  test(`${name}: a failure of work, or of its promise, is reported with its place and never thrown`, async () => {
    using clock = create();
    const fail = () => {
      throw BUG;
    };
    clock.timers.after(5, "once", fail);
    const repeated = clock.timers.every(5, "repeated", () => Promise.reject(BUG));
    clock.timers.soon("soon", fail);
    clock.timers.deferred("deferred", fail)();
    await clock.advance(5);
    repeated.cancel();
    assert.deepEqual(
      clock.reports.map(([where]) => where),
      ["soon", "deferred", "once", "repeated"],
    );
    for (const [, error] of clock.reports) assert.equal(error, BUG);
  });

  test(`${name}: repeated work goes on after a failure, until it is cancelled`, async () => {
    using clock = create();
    let runs = 0;
    const timer = clock.timers.every(10, "work", () => {
      runs++;
      if (runs === 1) throw BUG;
      if (runs === 3) timer.cancel();
    });
    for (let turn = 0; turn < 6; turn++) await clock.advance(10);
    assert.deepEqual([runs, clock.reports.length], [3, 1]);
  });

  test(`${name}: cancelled work does not run`, async () => {
    using clock = create();
    const ran: string[] = [];
    clock.timers.after(1, "after", () => ran.push("after")).cancel();
    clock.timers.every(1, "every", () => ran.push("every")).cancel();
    clock.timers.soon("soon", () => ran.push("soon")).cancel();
    await clock.advance(5);
    assert.deepEqual(ran, []);
  });

  test(`${name}: a span longer than 2^31 - 1 ms is waited for`, async () => {
    using clock = create();
    let runs = 0;
    const days30 = 30 * 86_400_000;
    clock.timers.after(days30, "once", () => runs++);
    await clock.advance(2 ** 31 - 1);
    assert.equal(runs, 0);
    await clock.advance(days30 - (2 ** 31 - 1));
    assert.equal(runs, 1);
  });

  test(`${name}: sleep ends after its time, and at once with the reason of an abort`, async () => {
    using clock = create();
    let slept = false;
    const sleeping = clock.timers.sleep(50).then(() => {
      slept = true;
    });
    await clock.advance(49);
    assert.equal(slept, false);
    await clock.advance(1);
    await sleeping;
    const stop = new AbortController();
    const stopped = clock.timers.sleep(50, { signal: stop.signal });
    stop.abort(BUG);
    await assert.rejects(stopped, BUG);
    await assert.rejects(clock.timers.sleep(50, { signal: stop.signal }), BUG);
  });
}

test("ManualTimers names waiting work, the next first, and reports when work begins to wait", async () => {
  const timers = new ManualTimers();
  const scheduled = timers.scheduled("late", 2);
  timers.every(30, "late", () => {}, { keepsAlive: true });
  timers.after(10, "early", () => {});
  timers.after(40, "late", () => {});
  assert.deepEqual(await scheduled, { where: "late", inMs: 30, everyMs: 30, keepsAlive: true });
  assert.deepEqual(
    timers.waiting.map(({ where, inMs }) => [where, inMs]),
    [
      ["early", 10],
      ["late", 30],
      ["late", 40],
    ],
  );
});

test("ManualTimers.advance throws a failure that no Failures takes", async () => {
  const timers = new ManualTimers();
  timers.after(1, "work", () => {
    throw BUG;
  });
  await assert.rejects(timers.advance(1), BUG);
  timers.check();
});

test("ManualTimers.turn runs the work that waits for a turn, but not work added meanwhile", () => {
  const timers = new ManualTimers({ holdsTurns: true });
  const ran: number[] = [];
  const again = timers.deferred("work", () => {
    ran.push(ran.length);
    if (ran.length < 3) again();
  });
  again();
  assert.deepEqual([timers.turn(), timers.turn(), timers.nextTurn, ran], [1, 1, ["work"], [0, 1]]);
});
