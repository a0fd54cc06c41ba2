import assert from "node:assert/strict";
import { test } from "node:test";
import { killNode } from "./kill-node.ts";

test("nothing that a client saw or sent is lost when the node is killed at every step of a commit", async () => {
  const report = await killNode(11);
  assert.ok(report.blocksSeen > 0);
  assert.ok(report.receiptsSeen > 0);
  assert.ok(report.transactionsTaken >= report.receiptsSeen);
  assert.ok(report.head >= report.blocksSeen);
});
