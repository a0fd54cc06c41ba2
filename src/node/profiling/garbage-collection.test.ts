import assert from "node:assert/strict";
import { test } from "node:test";
import { cachedDataVersionTag } from "node:v8";
import { garbageCollector } from "./garbage-collection.ts";

test("garbageCollector collects at once, and leaves the flags with which V8 accepts cached code as they were", async () => {
  const before = cachedDataVersionTag();
  const collect = garbageCollector();
  assert.equal(cachedDataVersionTag(), before);
  const garbage = new WeakRef({});
  // A WeakRef keeps its target until the turn ends.
  await new Promise(setImmediate);
  collect();
  assert.equal(garbage.deref(), undefined);
});
