import assert from "node:assert/strict";
import { test } from "node:test";
import { createLogger } from "../../src/base/telemetry/create-logger.ts";
import { errorLinesOf, NodeLog } from "./node-log.ts";
import { startTestNode } from "./test-node.ts";

const settings = { "consensus.block-time": "manual" };
const FAILED = /^error chain: listener of the chain failed number=1 .*injected/;

async function nodeWithBadListener(expectedErrors: readonly RegExp[]) {
  const node = await startTestNode({ dev: true, settings, expectedErrors });
  node.node.core.chain.subscribe(() => {
    throw new TypeError("injected");
  });
  return node;
}

test("TestNode.stop fails for an error that the test does not expect, and names it", async () => {
  const node = await nodeWithBadListener([]);
  node.produceBlock();
  await assert.rejects(node.stop(), (error: Error) => /listener of the chain failed.*injected/.test(error.message));
});

test("TestNode.stop fails for an expected error that did not come", async () => {
  const node = await nodeWithBadListener([FAILED]);
  await assert.rejects(node.stop(), assert.AssertionError);
});

test("TestNode.stop takes an expected error, and untilLogged finds it before and after it is logged", async () => {
  const node = await nodeWithBadListener([FAILED]);
  const later = node.untilLogged(FAILED);
  node.produceBlock();
  assert.equal(await later, await node.untilLogged(FAILED));
  await node.stop();
});

test("NodeLog.until that waits in vain names what it waited for and what came last", async () => {
  const log = new NodeLog();
  log.logger.child("chain").warn("something else", { number: 7 });
  const alive = setInterval(() => {}, 1_000);
  await assert.rejects(log.until(/block committed/, 1), (error: Error) => {
    assert.ok(error instanceof assert.AssertionError);
    return /block committed.*\n.*something else number=7/.test(error.message);
  });
  clearInterval(alive);
});

test("errorLinesOf finds the lines of level error in every format, and no other", () => {
  for (const format of ["text", "json", "pretty"] as const) {
    for (const color of [false, true]) {
      let output = "";
      const log = createLogger({ level: "info", format, color, write: (line) => (output += line) }).child("rpc");
      log.info("an error of a caller", { level: "error" });
      log.error("failed", { reason: "injected" });
      log.warn("error rate is high");
      const lines = errorLinesOf(output);
      assert.equal(lines.length, 1, `${format}: ${output}`);
      assert.ok(lines[0]!.includes("injected"));
    }
  }
});
