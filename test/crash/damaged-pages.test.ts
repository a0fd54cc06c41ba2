import assert from "node:assert/strict";
import { test } from "node:test";
import { DamagedHome } from "../support/damaged-index/damaged-home.ts";
import { DAMAGES } from "../support/damaged-index/index-pages.ts";

test("no damage to any kind of page, before the start or while the node runs, makes a wrong block, or a wrong answer of a node that is ready", async () => {
  const damaged = new DamagedHome(3_000, 20_261_129);
  try {
    await damaged.begin(60);
    const { kinds } = damaged;
    assert.ok(
      ["meta", "branch", "overflow", "free leaf", "leaf account", "leaf slot"].every((kind) => kinds.includes(kind)),
    );
    for (const kind of kinds) {
      for (const [i, damage] of DAMAGES.entries()) {
        // Other pages were made meanwhile.
        if (!damaged.kinds.includes(kind)) continue;
        await damaged.damage(kind, damage, i % 2 === 0 ? "before the start" : "while the node runs");
      }
    }
    await damaged.assertEveryBlock();
  } finally {
    damaged.remove();
  }
});

/** 300,000 accounts take 140 MiB, and 200 and more with what merges leave. */
test("the same of an index of some 200 MB", async () => {
  const damaged = new DamagedHome(300_000, 20_261_130);
  try {
    await damaged.begin(60);
    await damaged.hideAccount("before the start");
    await damaged.hideAccount("while the node runs");
    await damaged.damage("branch", "hide", "before the start");
    await damaged.damage("leaf slot", "flip", "while the node runs");
    await damaged.assertEveryBlock();
  } finally {
    damaged.remove();
  }
});
