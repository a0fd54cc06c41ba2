import assert from "node:assert/strict";
import { once } from "node:events";
import { getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

const MODULE = new URL("./thread-priority.ts", import.meta.url).href;

test("lowerThreadPriority adds to the nice value of its own thread alone", {
  skip: process.platform !== "linux" && "threads have no priority of their own",
}, async () => {
  const before = getPriority();
  const worker = new Worker(
    `import("tsx/esm/api").then(async ({ register }) => {
       register();
       const { lowerThreadPriority } = await import(${JSON.stringify(MODULE)});
       lowerThreadPriority(3);
       const { basename } = require("node:path");
       const id = Number(basename(require("node:fs").readlinkSync("/proc/thread-self")));
       require("node:worker_threads").parentPort.postMessage(require("node:os").getPriority(id));
     });`,
    { eval: true },
  );
  const [inThread] = await once(worker, "message");
  assert.equal(inThread, Math.min(19, before + 3));
  assert.equal(getPriority(), before);
  await once(worker, "exit");
});
