import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { CRASH_EXIT_CODE, installCrashPolicy } from "./crash-policy.ts";

function policyWith(stop: () => Promise<void>) {
  const timers = new ManualTimers();
  const source = new EventEmitter();
  const reports: (readonly [string, unknown])[] = [];
  const exits: number[] = [];
  const remove = installCrashPolicy({
    source,
    failures: {
      report(where, error) {
        reports.push([where, error]);
        return "internal";
      },
    },
    stop,
    exitNow: (code) => exits.push(code),
    timers,
  });
  return { source, timers, reports, exits, remove };
}

test("an uncaught exception and an unhandled rejection are reported, stop the node in order and end the process", async () => {
  for (const [event, where] of [
    ["uncaughtException", "uncaught exception"],
    ["unhandledRejection", "unhandled rejection"],
  ] as const) {
    let stops = 0;
    const { source, reports, exits } = policyWith(async () => {
      stops++;
      assert.deepEqual(exits, []);
    });
    const error = new Error("bug", { cause: new Error("root") });
    source.emit(event, error);
    await setImmediate();
    assert.deepEqual([reports, stops, exits], [[[where, error]], 1, [CRASH_EXIT_CODE]]);
  }
});

test("a stop that fails is reported, and ends the process too", async () => {
  const failure = new Error("store");
  const { source, reports, exits } = policyWith(() => Promise.reject(failure));
  source.emit("uncaughtException", new Error("bug"));
  await setImmediate();
  assert.deepEqual(reports[1], ["stop after a crash", failure]);
  assert.deepEqual(exits, [CRASH_EXIT_CODE]);
});

test("a stop that hangs ends after five seconds, and at once at the second exception", () => {
  const hanging = policyWith(() => new Promise(() => {}));
  hanging.source.emit("uncaughtException", new Error("bug"));
  hanging.timers.advanceSync(4_999);
  assert.deepEqual(hanging.exits, []);
  hanging.timers.advanceSync(1);
  assert.deepEqual(hanging.exits, [CRASH_EXIT_CODE]);

  const twice = policyWith(() => new Promise(() => {}));
  twice.source.emit("uncaughtException", new Error("bug"));
  twice.source.emit("unhandledRejection", new Error("another"));
  assert.deepEqual(twice.exits, [CRASH_EXIT_CODE]);
  assert.equal(twice.reports.length, 2);
});

test("a removed policy hears nothing", () => {
  const { source, reports, remove } = policyWith(async () => {});
  remove();
  assert.equal(source.emit("uncaughtException", new Error("bug")), false);
  assert.deepEqual(reports, []);
});
