import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createLogger, type RootLogger } from "../../src/base/telemetry/create-logger.ts";
import { decodeMessage } from "../../src/consensus/cometbft/abci/protobuf.ts";
import { pprofProfile } from "../../src/node/profiling/pprof.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";

let running: TestNode;
let log: RootLogger;
const REJECTED = { code: -32000 };

function request<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
  return running.node.provider.request({ method, params }) as Promise<T>;
}

function pathOf(file: string): string {
  return join(running.home, "debug", file);
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(pathOf(file), "utf8"));
}

before(async () => {
  log = createLogger({ level: "error", format: "json", write: () => {} });
  running = await startTestNode({ dev: true, log });
});
after(() => running.stop());

test("debug_memStats counts the collection that debug_freeOSMemory makes", async () => {
  type Stats = {
    readonly NumGC: number;
    readonly NumForcedGC: number;
    readonly LastGC: number;
    readonly PauseNs: readonly number[];
    readonly PauseEnd: readonly number[];
    readonly BySize: readonly unknown[];
    readonly Alloc: number;
    readonly Sys: number;
    readonly TotalAlloc: number;
  };
  const earlier = await request<Stats>("debug_memStats");
  assert.equal(await request("debug_freeOSMemory"), null);
  const later = await reached<Stats>("debug_memStats", ({ NumGC }) => NumGC > earlier.NumGC);
  assert.equal(later.NumForcedGC, earlier.NumForcedGC + 1);
  assert.equal(later.PauseNs.length, 256);
  assert.equal(later.PauseEnd[(later.NumGC + 255) % 256], later.LastGC);
  assert.ok(later.PauseNs[(later.NumGC + 255) % 256]! > 0);
  assert.equal(later.BySize.length, 61);
  assert.ok(later.Alloc > 0 && later.Sys >= later.Alloc && later.TotalAlloc >= later.Alloc);
  const stats = await request<{
    NumGC: number;
    Pause: number[];
    PauseEnd: string[];
    LastGC: string;
  }>("debug_gcStats");
  assert.ok(stats.NumGC >= later.NumGC);
  assert.equal(stats.Pause.length, stats.PauseEnd.length);
  assert.equal(stats.LastGC, stats.PauseEnd[0]);
});

test("debug_setGCPercent and debug_setMemoryLimit answer the value before", async () => {
  assert.equal(await request("debug_setGCPercent", 50), 100);
  assert.equal(await request("debug_setGCPercent", -1), 50);
  assert.equal(await request("debug_setGCPercent", 100), -1);
  const none = Number(2n ** 63n - 1n);
  assert.equal(await request("debug_setMemoryLimit", 10_000_000_000), none);
  assert.equal(await request("debug_setMemoryLimit", -1), 10_000_000_000);
  assert.equal(await request("debug_setMemoryLimit", none), 10_000_000_000);
});

test("a heap above the memory limit is collected", async () => {
  const { NumForcedGC } = await request<{ NumForcedGC: number }>("debug_memStats");
  await request("debug_setMemoryLimit", 1);
  try {
    await reached<{ NumForcedGC: number }>("debug_memStats", (now) => now.NumForcedGC > NumForcedGC);
  } finally {
    await request("debug_setMemoryLimit", Number(2n ** 63n - 1n));
  }
});

test("debug_stacks shows the running stack and passes it through a filter", async () => {
  const all = await request<string>("debug_stacks");
  assert.match(all, /^main \[running\]:\n/);
  assert.equal(await request("debug_stacks", "no-such-word-anywhere"), "");
  const main = await request<string>("debug_stacks", "running && !waiting");
  assert.ok(main.startsWith("main [running]:") && main.endsWith("\n\n"));
});

test("debug_verbosity, debug_vmodule and debug_backtraceAt change the log", async () => {
  await request("debug_verbosity", 4);
  assert.equal(log.level(), "debug");
  await request("debug_verbosity", 9);
  assert.equal(log.level(), "trace");
  await request("debug_verbosity", 1);
  assert.equal(log.level(), "error");
  assert.equal(await request("debug_vmodule", "rpc/*=5"), null);
  assert.equal(log.enabled("trace"), true);
  assert.equal(await request("debug_vmodule", ""), null);
  assert.equal(log.enabled("trace"), false);
  await assert.rejects(request("debug_vmodule", "rpc"), {
    code: -32000,
    message: "expect comma-separated list of filename=N",
  });
  assert.equal(await request("debug_backtraceAt", "server.ts:443"), null);
  assert.equal(await request("debug_backtraceAt", ""), null);
  await assert.rejects(request("debug_backtraceAt", "server"), REJECTED);
});

test("debug_startCPUProfile writes a profile DevTools reads, once", async () => {
  assert.equal(await request("debug_startCPUProfile", "cpu.cpuprofile"), null);
  await assert.rejects(request("debug_startCPUProfile", "other.cpuprofile"), {
    code: -32000,
    message: "CPU profiling already in progress",
  });
  await request("eth_getBlockByNumber", "latest", true);
  assert.equal(await request("debug_stopCPUProfile"), null);
  const profile = read<{ nodes: { id: number }[]; samples: number[]; endTime: number }>("cpu.cpuprofile");
  const ids = new Set(profile.nodes.map(({ id }) => id));
  assert.ok(profile.samples.length > 0 && profile.samples.every((id) => ids.has(id)));
  assert.equal(statSync(pathOf("cpu.cpuprofile")).mode & 0o777, 0o600);
  await assert.rejects(request("debug_stopCPUProfile"), {
    code: -32000,
    message: "CPU profiling not in progress",
  });
  await assert.rejects(request("debug_startCPUProfile", "cpu.cpuprofile"), REJECTED);
  assert.equal(existsSync(pathOf("other.cpuprofile")), false);
  assert.equal(await request("debug_cpuProfile", "timed.cpuprofile", 0), null);
  assert.ok(Array.isArray(read<{ nodes: unknown }>("timed.cpuprofile").nodes));
});

test("debug_startGoTrace writes Chrome's trace events", async () => {
  assert.equal(await request("debug_startGoTrace", "node.trace"), null);
  await assert.rejects(request("debug_startGoTrace", "again.trace"), REJECTED);
  await request("debug_freeOSMemory");
  assert.equal(await request("debug_stopGoTrace"), null);
  const { traceEvents } = read<{ traceEvents: { ph: string; name: string }[] }>("node.trace");
  assert.ok(traceEvents.length > 0);
  assert.ok(traceEvents.every(({ ph, name }) => typeof ph === "string" && typeof name === "string"));
  await assert.rejects(request("debug_stopGoTrace"), {
    code: -32000,
    message: "trace not in progress",
  });
});

test("debug_writeBlockProfile has the stack that held up the event loop", async () => {
  await request("debug_setBlockProfileRate", 50_000_000);
  // On a busy machine V8's sampler gets few turns, and may have none in a stall.
  let written = 0;
  await until(async () => {
    holdUpTheEventLoop(200);
    const file = `block-${written++}.cpuprofile`;
    await request("debug_writeBlockProfile", file);
    const { nodes, timeDeltas } = read<{
      nodes: { callFrame: { functionName: string } }[];
      timeDeltas: number[];
    }>(file);
    const names = nodes.map(({ callFrame }) => callFrame.functionName);
    return names.includes("holdUpTheEventLoop") && Math.max(...timeDeltas) >= 50_000;
  }, "a profile that has the stall");
  await request("debug_setBlockProfileRate", 0);
});

type Waits = { readonly [lock: string]: { readonly count: number; readonly ns: number; readonly functions: string[] } };

/** What a mutex profile says of each thing that was waited for. */
function waitsOf(file: string): Waits {
  const profile = decodeMessage(pprofProfile, gunzipSync(readFileSync(pathOf(file))));
  const { stringTable: strings, location: locations, function: functions } = profile;
  assert.deepEqual(
    profile.sampleType.map(({ type, unit }) => `${strings[Number(type)]}/${strings[Number(unit)]}`),
    ["contentions/count", "delay/nanoseconds"],
  );
  const nameAt = (id: bigint) => {
    const [line] = locations[Number(id) - 1]!.line;
    return strings[Number(functions[Number(line!.functionId) - 1]!.name)]!;
  };
  const found: Record<string, { count: number; ns: number; functions: string[] }> = {};
  for (const { locationId, value } of profile.sample) {
    const [lock, ...names] = locationId.map(nameAt);
    const sum = found[lock!] ?? { count: 0, ns: 0, functions: [] };
    found[lock!] = sum;
    sum.count += Number(value[0]);
    sum.ns += Number(value[1]);
    sum.functions.push(...names);
  }
  return found;
}

const send = (count: number) => {
  const [from] = DEV_ADDRESSES;
  return Promise.all(Array.from({ length: count }, () => request("eth_sendTransaction", { from, to: from })));
};

test("debug_writeMutexProfile has the waits since debug_setMutexProfileFraction, and where they began", async () => {
  await send(3);
  await request("debug_setMutexProfileFraction", 1);
  await send(5);
  await request("debug_setMutexProfileFraction", 0);
  await send(3);
  await request("debug_writeMutexProfile", "mutex.pb.gz");
  const { count, ns, functions } = waitsOf("mutex.pb.gz")["lock of a sender"]!;
  // The first of five has nobody before it.
  assert.equal(count, 4);
  assert.ok(ns > 0);
  assert.ok(functions.includes("KeyedLock.run"));
  assert.equal(statSync(pathOf("mutex.pb.gz")).mode & 0o777, 0o600);
  await assert.rejects(request("debug_writeMutexProfile", "mutex.pb.gz"), REJECTED);
});

test("debug_mutexProfile records for a while, whatever the fraction is", async () => {
  // A machine may stand still for the second of a recording.
  let written = 0;
  await until(async () => {
    const file = `timed-${written++}.pb.gz`;
    const recording = request("debug_mutexProfile", file, 1);
    await send(4);
    assert.equal(await recording, null);
    return waitsOf(file)["lock of a sender"]?.count === 3;
  }, "a recording with the waits of three transactions");
});

test("debug_writeMemProfile writes a heap snapshot", async () => {
  await request("debug_writeMemProfile", "heap.heapsnapshot");
  const { snapshot, nodes } = read<{
    snapshot: { node_count: number; meta: { node_fields: unknown[] } };
    nodes: number[];
  }>("heap.heapsnapshot");
  assert.equal(nodes.length, snapshot.node_count * snapshot.meta.node_fields.length);
});

test("no profile is written outside of the debug folder", async () => {
  for (const file of ["../outside", "/tmp/outside", "a/../../outside", ""]) {
    for (const method of ["debug_startCPUProfile", "debug_startGoTrace", "debug_writeMemProfile"]) {
      await assert.rejects(request(method, file), REJECTED);
    }
    await assert.rejects(request("debug_cpuProfile", file, 0), REJECTED);
    await assert.rejects(request("debug_writeBlockProfile", file), REJECTED);
  }
  await assert.rejects(request("debug_cpuProfile", "long", 601), REJECTED);
  assert.equal(existsSync(pathOf("long")), false);
});

function holdUpTheEventLoop(milliseconds: number): void {
  const end = performance.now() + milliseconds;
  while (performance.now() < end);
}

/** Collections are reported in a later turn of the event loop; each request takes one. */
async function reached<T>(method: string, isReached: (value: T) => boolean): Promise<T> {
  for (let turns = 0; turns < 2_000; turns++) {
    const value = await request<T>(method);
    if (isReached(value)) return value;
    // Garbage, for tests that wait for a collection.
    void Array.from({ length: 10_000 }, (_, i) => [i]);
  }
  return assert.fail("no collection was reported");
}
