import assert from "node:assert/strict";
import { test } from "node:test";
import { type Plan, planOf } from "../scenario/plan.ts";
import { commandFor, planFor, readOptions } from "./options.ts";
import { emptyResult, type Result } from "./protocol.ts";
import { shrink } from "./shrink.ts";

const PLAN: Plan = planOf({ seed: "11", nodes: 5, engine: "cometbft", durationMs: 3_600_000 });

/** Violated where a plan has two certain faults and more than one node. */
async function run(plan: Plan): Promise<Result> {
  const needed = [PLAN.faults[2]!, PLAN.faults[7]!];
  const isViolated = needed.every((fault) => plan.faults.includes(fault)) && plan.nodes.length > 1;
  const violation = isViolated ? { check: "agreement", message: "", cause: undefined } : undefined;
  return { ...emptyResult(plan), violation };
}

test("a violation is cut down to the faults, nodes and users that it takes, and the command repeats it", async () => {
  assert.ok(PLAN.faults.length > 8, "an hour has enough faults");
  const { cut, result } = await shrink(PLAN, await run(PLAN), run);
  assert.deepEqual(cut.faults, [2, 7]);
  assert.equal(cut.users, 0);
  const nodesOfFaults = 1 + Math.max(PLAN.faults[2]!.node, PLAN.faults[7]!.node);
  assert.equal(cut.nodes ?? 5, Math.max(2, nodesOfFaults));
  assert.equal(result.violation?.check, "agreement");

  const base = { plan: { nodes: 5, engine: "cometbft", durationMs: 3_600_000 } } as const;
  const command = commandFor(base, "11", cut);
  assert.ok(command.startsWith("npm run simulate -- --seed 11 "));
  const options = readOptions(command.split(" ").slice(4));
  assert.deepEqual(planFor(options, options.seed).faults, [PLAN.faults[2], PLAN.faults[7]]);
});

test("options that are none are errors that say what to do", () => {
  for (const [args, message] of [
    [["--for", "5"], /--for takes a time such as 90s, 20m or 1h, not 5/],
    [["--nodes", "17"], /--nodes is 1 to 16/],
    [["--nodes", "x"], /--nodes takes a number, not x/],
    [["--engine", "raft"], /--engine is solo or cometbft, not raft/],
    [["--sedd", "1"], /Unknown option '--sedd'/],
  ] as const) {
    assert.throws(() => readOptions(args), message);
  }
});
