import assert from "node:assert/strict";
import { test } from "node:test";
import { addResults, countTime, engineResults, NO_RESULTS, percentile, type Results, summary } from "./results.ts";

test("results of two runs add up", () => {
  const results = resultsOf(3, "one");
  addResults(results, resultsOf(4, "other"));
  assert.equal(results.kills, 7);
  assert.deepEqual(results.byCommit, { one: 3, other: 4 });
  assert.deepEqual(results.failures, ["of one", "of other"]);
  assert.equal(results.engines["solo"]!.kills, 7);
  assert.deepEqual(results.engines["solo"]!.restartMs, { quiet: { 10: 2 }, busy: {} });
});

test("results count homes with threads that execute ahead from their first on", () => {
  const results = resultsOf(3, "one");
  const other = resultsOf(4, "other");
  engineResults(other, "solo").speculation = { kills: 4, byRpcProcesses: { 0: 4 }, outcomes: { applied: 9 } };
  addResults(results, other);
  addResults(results, other);
  assert.deepEqual(results.engines["solo"]!.speculation, {
    kills: 8,
    byRpcProcesses: { 0: 8 },
    outcomes: { applied: 18 },
  });
  assert.match(summary(results), /8 with speculation threads: applied 18/);
});

test("a percentile is a time that this share does not exceed, in steps of 10 ms", () => {
  const times = {};
  for (let milliseconds = 1; milliseconds <= 1_000; milliseconds++) countTime(times, milliseconds);
  assert.deepEqual(
    [0.5, 0.9, 0.99, 1].map((share) => percentile(times, share)),
    [500, 900, 990, 1_000],
  );
  assert.equal(percentile({}, 0.5), undefined);
});

function resultsOf(kills: number, commit: string): Results {
  const results = structuredClone(NO_RESULTS);
  results.kills = kills;
  results.byCommit[commit] = kills;
  results.failures.push(`of ${commit}`);
  const solo = engineResults(results, "solo");
  solo.kills = kills;
  countTime(solo.restartMs.quiet, 3);
  return results;
}
