import assert from "node:assert/strict";
import { test } from "node:test";
import type { RuntimePort } from "../../ports/runtime.ts";
import type { Method } from "../../transport/dispatch/method.ts";
import type { ServingPorts } from "../rpc-ports.ts";
import { backtraceAt, verbosity, vmodule } from "./logging.ts";
import { gcStats, memStats, setGcPercent, setMemoryLimit } from "./memory.ts";
import {
  blockProfile,
  cpuProfile,
  goTrace,
  mutexProfile,
  setBlockProfileRate,
  setMutexProfileFraction,
  startCpuProfile,
  startGoTrace,
  writeBlockProfile,
  writeMemProfile,
  writeMutexProfile,
} from "./profiles.ts";
import { parseStackFilter, stacks } from "./stacks.ts";

const INVALID_PARAMS = { code: "RPC_INVALID_PARAMS" };
const NAMES_A_FILE = [startCpuProfile, startGoTrace, writeBlockProfile, writeMutexProfile, writeMemProfile];
const RECORDS = [cpuProfile, goTrace, blockProfile, mutexProfile];

/** A port none of whose methods may be called. */
const runtime = new Proxy({} as RuntimePort, {
  get: (_target, name) => () => assert.fail(`${String(name)} was called`),
});

test("runtime methods reject parameters of another type before anything happens", async () => {
  const wrong: (readonly [Method<ServingPorts>, readonly unknown[]])[] = [
    [setGcPercent, ["50"]],
    [setGcPercent, [1.5]],
    [setGcPercent, []],
    [setMemoryLimit, ["1"]],
    [setMemoryLimit, [2 ** 64]],
    [verbosity, ["3"]],
    [vmodule, [3]],
    [backtraceAt, [3]],
    [setBlockProfileRate, ["1"]],
    [setMutexProfileFraction, ["1"]],
    [memStats, [1]],
    [stacks, [1]],
    ...NAMES_A_FILE.map((method) => [method, [1]] as const),
    ...NAMES_A_FILE.map((method) => [method, []] as const),
    ...RECORDS.map((method) => [method, ["file", "1s"]] as const),
    ...RECORDS.map((method) => [method, ["file"]] as const),
    ...RECORDS.map((method) => [method, ["file", -1]] as const),
  ];
  for (const [method, params] of wrong) {
    await assert.rejects(method.call({ runtime }, [...params]), INVALID_PARAMS);
  }
});

test("debug_gcStats has Go's fields and times", async () => {
  const stats = {
    lastGcMs: 1000,
    count: 2,
    pauseTotal: 30,
    pauses: [20, 10],
    pauseEndsMs: [1000, 500],
  };
  assert.deepEqual(await gcStats.call({ runtime: { gcStats: () => stats } }), {
    LastGC: "1970-01-01T00:00:01.000Z",
    NumGC: 2,
    PauseTotal: 30,
    Pause: [20, 10],
    PauseEnd: ["1970-01-01T00:00:01.000Z", "1970-01-01T00:00:00.500Z"],
    PauseQuantiles: null,
  });
  const none = { lastGcMs: undefined, count: 0, pauseTotal: 0, pauses: [], pauseEndsMs: [] };
  const before = (await gcStats.call({ runtime: { gcStats: () => none } })) as { LastGC: string };
  assert.equal(before.LastGC, "0001-01-01T00:00:00Z");
});

test("debug_setMemoryLimit writes Go's number for no limit, and reads it as none", async () => {
  const seen: (number | undefined)[] = [];
  const limited = (before: number) => {
    const setMemoryLimit: RuntimePort["setMemoryLimit"] = ({ bytes: next }) => {
      seen.push(next);
      return before;
    };
    return { runtime: { setMemoryLimit } as RuntimePort } as ServingPorts;
  };
  const access = { transport: "inProcess" } as never;
  assert.equal(setMemoryLimit.run(limited(Infinity), [-1], access), "9223372036854775807");
  assert.equal(setMemoryLimit.run(limited(5), [2 ** 63], access), "5");
  assert.equal(setMemoryLimit.run(limited(5), [7], access), "5");
  assert.deepEqual(seen, [undefined, Infinity, 7]);
});

test("debug_stacks joins words of its filter as Go code does", async () => {
  const all = "main [running]:\nat rpc\n\ntimer [waiting]: 2\n\nsocket [waiting]: 1\n\n";
  const modules = { runtime: { stacks: () => all } };
  const filtered: readonly [string, string][] = [
    ["", all],
    ["rpc", "main [running]:\nat rpc\n\n"],
    ["waiting && !timer", "socket [waiting]: 1\n\n"],
    ["rpc || socket", "main [running]:\nat rpc\n\nsocket [waiting]: 1\n\n"],
    ["!(rpc || socket)", "timer [waiting]: 2\n\n"],
    ["timer || rpc && socket", "timer [waiting]: 2\n\n"],
  ];
  for (const [filter, expected] of filtered) {
    assert.equal(await stacks.call(modules, [filter]), expected, filter);
  }
  for (const wrong of ["a &&", "(a", "a b", "a)", "&& a", "!", "a & b", `${"(".repeat(5000)}a`]) {
    assert.equal(parseStackFilter(wrong), undefined, wrong.slice(0, 20));
    assert.equal(await stacks.call(modules, [wrong]), "");
  }
});
