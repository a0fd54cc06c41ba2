import assert from "node:assert/strict";
import { test } from "node:test";
import { damageIndex } from "./damage-index.ts";

test("a node with a damaged index never answers wrongly, and answers everything at its second start", async () => {
  const report = await damageIndex(5, 20_261_122);
  assert.ok(report.answersCompared > 5 * 100);
});
