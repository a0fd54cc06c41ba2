import assert from "node:assert/strict";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { beginWait } from "../../base/threads/waits.ts";
import { decodeMessage } from "../../consensus/cometbft/abci/protobuf.ts";
import { pprofProfile } from "./pprof.ts";
import { WaitRecorder } from "./wait-recorder.ts";

const wait = (lock: string) => beginWait(lock)?.();
const profileOf = (recorder: WaitRecorder) => decodeMessage(pprofProfile, gunzipSync(recorder.profile()));

test("a wait is looked at only while one records", () => {
  assert.equal(beginWait("lock"), undefined);
  const recorder = new WaitRecorder();
  recorder.setFraction(1);
  const ended = beginWait("lock");
  assert.notEqual(ended, undefined);
  recorder.setFraction(0);
  ended!();
  assert.equal(beginWait("lock"), undefined);
  assert.equal(profileOf(recorder).sample.length, 0);
});

test("one of a fraction of the waits is recorded, and stands for all", () => {
  const draws = [0.1, 0.6, 0.9, 0.2];
  const recorder = new WaitRecorder(() => draws.shift()!);
  recorder.setFraction(2);
  for (let i = 0; i < 4; i++) wait("lock");
  recorder.setFraction(0);
  const { sample, period } = profileOf(recorder);
  assert.equal(sample.length, 1);
  assert.equal(sample[0]!.value[0], 4n);
  assert.equal(period, 1n);
});

test("stacks have their functions, files and lines, and the lock on top", () => {
  const recorder = new WaitRecorder();
  recorder.setFraction(1);
  (function waitsHere() {
    wait("lock of a test");
  })();
  recorder.setFraction(0);
  const { sample, location, function: functions, stringTable } = profileOf(recorder);
  const frames = sample[0]!.locationId.map((id) => {
    const { functionId, line } = location[Number(id) - 1]!.line[0]!;
    const { name, filename } = functions[Number(functionId) - 1]!;
    return { name: stringTable[Number(name)], file: stringTable[Number(filename)]!, line };
  });
  assert.equal(frames[0]!.name, "lock of a test");
  const here = frames.find(({ name }) => name === "waitsHere");
  assert.match(here!.file, /wait-recorder\.test\.ts$/);
  assert.ok(here!.line > 0n);
  assert.equal(stringTable[0], "");
});

test("two recordings at a time have the same waits", () => {
  const [first, second] = [new WaitRecorder(), new WaitRecorder()];
  first.setFraction(1);
  second.setFraction(1);
  wait("lock");
  first.setFraction(0);
  wait("lock");
  second.setFraction(0);
  assert.deepEqual(
    [first, second].map((recorder) => profileOf(recorder).sample.reduce((sum, { value }) => sum + value[0]!, 0n)),
    [1n, 2n],
  );
});
