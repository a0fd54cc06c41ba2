import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { cachedDataVersionTag, setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
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

test("garbageCollector finds the collector while another thread, which starts as this one does, changes the same flag", async () => {
  const other = new Worker(
    `const { setFlagsFromString } = require("node:v8");
     require("node:worker_threads").parentPort.postMessage("begins");
     for (;;) {
       setFlagsFromString("--expose-gc");
       setFlagsFromString("--no-expose-gc");
     }`,
    { eval: true },
  );
  try {
    await once(other, "message");
    for (let i = 0; i < 50; i++) assert.equal(typeof garbageCollector(), "function");
  } finally {
    await other.terminate();
    setFlagsFromString("--no-expose-gc");
  }
});
