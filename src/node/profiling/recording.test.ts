import assert from "node:assert/strict";
import type { Profiler } from "node:inspector";
import { test } from "node:test";
import { foldStalls, mergeStalls, stallCpuProfile } from "./recording.ts";

function node(id: number, functionName: string, ...children: number[]): Profiler.ProfileNode {
  const callFrame = { functionName, scriptId: "1", url: "a.ts", lineNumber: id, columnNumber: 0 };
  return { id, callFrame, children };
}

const NODES = [
  node(1, "(root)", 2, 3, 5),
  node(2, "(idle)"),
  node(3, "handle", 4),
  node(4, "slow"),
  node(5, "(program)"),
];

/** A stretch of 3 ms, mostly in `slow`, and one of 1 ms in `handle`. */
const PROFILE = {
  nodes: NODES,
  startTime: 0,
  endTime: 9000,
  samples: [2, 3, 4, 4, 2, 3, 5, 2],
  timeDeltas: [0, 1000, 1000, 1000, 1000, 1000, 1000, 1000],
};

test("foldStalls charges each stretch without a pause to the stack that took most of it", () => {
  const stalls = [...foldStalls(PROFILE, 1).values()];
  const shown = stalls.map(({ frames, ...rest }) => ({
    stack: frames.map(({ functionName }) => functionName),
    ...rest,
  }));
  assert.deepEqual(shown, [
    { stack: ["handle", "slow"], count: 1, microseconds: 3000 },
    { stack: ["handle"], count: 1, microseconds: 1000 },
  ]);
});

test("foldStalls leaves out stretches shorter than the rate", () => {
  assert.equal(foldStalls(PROFILE, 2_000_000).size, 1);
  assert.equal(foldStalls(PROFILE, 4_000_000).size, 0);
});

test("stallCpuProfile is a CPU profile whose samples are the stalls, added up", () => {
  const all = new Map();
  mergeStalls(all, foldStalls(PROFILE, 1));
  mergeStalls(all, foldStalls(PROFILE, 1));
  const { nodes, samples, timeDeltas, startTime, endTime } = stallCpuProfile(all);
  assert.deepEqual(timeDeltas, [6000, 2000]);
  assert.equal(endTime - startTime, 8000);
  const ids = new Set(nodes.map(({ id }) => id));
  assert.ok(samples!.every((id) => ids.has(id)));
  assert.ok(nodes.every(({ children = [] }) => children.every((id) => ids.has(id))));
});
