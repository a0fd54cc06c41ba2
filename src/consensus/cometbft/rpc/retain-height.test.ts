import assert from "node:assert/strict";
import { test } from "node:test";
import { openTestApplication, withCalls } from "../../../../test/support/consensus/test-application.ts";
import { createAbciHandlers } from "../abci/handlers.ts";
import { retainHeight } from "./engine-view.ts";

/** Blocks of a week at one a second, whose commit timeout is 900 ms. */
const WEEK = 672_000;
const SECOND = { retainBlocks: 1_000, blockTimeMs: 1_000 };
const none = undefined;

test("a chain that keeps all blocks has CometBFT keep all", () => {
  const heights = { height: 10 * WEEK, earliest: 1, oldestSnapshot: none };
  assert.equal(retainHeight({ ...SECOND, retainBlocks: null }, heights), 0);
});

test("CometBFT's store follows the retention of the chain, some blocks at a time", () => {
  const at = (height: number, earliest: number, oldestSnapshot: number | undefined = none) =>
    retainHeight(SECOND, { height, earliest, oldestSnapshot });
  assert.equal(at(WEEK, 1), 0);
  assert.equal(at(WEEK + 1, 1), 2);
  assert.equal(at(WEEK + 500, 1), 501);
  assert.equal(at(WEEK + 1_000_000, 1), 1_001);
  assert.equal(at(WEEK + 1_000_000, 999_900), 1_000_001);
  assert.equal(at(WEEK + 1_000_000, 1_000_001), 0);
});

test("CometBFT keeps the blocks that the chain, evidence, light clients and snapshots need", () => {
  const height = 10_000_000;
  const earliest = 1;
  const firstKept = (options: typeof SECOND, oldestSnapshot: number | undefined = none) => {
    let first = earliest;
    for (;;) {
      const next = retainHeight(options, { height, earliest: first, oldestSnapshot });
      if (next === 0) return first;
      first = next;
    }
  };
  const week = height - WEEK + 1;
  assert.equal(firstKept(SECOND), week);
  assert.equal(firstKept({ ...SECOND, retainBlocks: 2_000_000 }), 8_000_001);
  assert.equal(firstKept({ ...SECOND, blockTimeMs: 60_000 }), height - 100_000 + 1);
  assert.equal(firstKept(SECOND, 5_000), 5_000);
  assert.equal(firstKept(SECOND, week + 1), week);
});

test("commit tells CometBFT which blocks to keep once the block is stored", async () => {
  const { application } = openTestApplication();
  const calls: string[] = [];
  const { commit } = createAbciHandlers(
    {
      version: "1",
      initialHeight: 1,
      retainHeight() {
        calls.push("retainHeight");
        return 7;
      },
    },
    withCalls(application, { commit: () => void calls.push("commit") }),
  );
  assert.deepEqual(await commit({}), { retainHeight: 7n });
  assert.deepEqual(calls, ["commit", "retainHeight"]);
});
