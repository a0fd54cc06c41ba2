import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

const MODULE = new URL("./thread-priority.ts", import.meta.url).href;
const skip = process.platform !== "linux" && "threads have neither a priority nor a name of their own";

/** What `script` sends from a thread in which `priority` is the module. */
async function fromThread(script: string): Promise<unknown> {
  const worker = new Worker(
    `import("tsx/esm/api").then(async ({ register }) => {
       register();
       const priority = await import(${JSON.stringify(MODULE)});
       const send = (value) => require("node:worker_threads").parentPort.postMessage(value);
       ${script}
     });`,
    { eval: true },
  );
  // Listened to from the beginning: the thread can end in the turn of its message.
  const exited = once(worker, "exit");
  const [sent] = await once(worker, "message");
  await exited;
  return sent;
}

test("lowerThreadPriority changes only the calling thread's nice value", { skip }, async () => {
  const before = getPriority();
  const inThread = await fromThread(
    `priority.lowerThreadPriority(3);
     const { basename } = require("node:path");
     const id = Number(basename(require("node:fs").readlinkSync("/proc/thread-self")));
     send(require("node:os").getPriority(id));`,
  );
  assert.equal(inThread, Math.min(19, before + 3));
  assert.equal(getPriority(), before);
});

test("nameThread names its own thread alone", { skip }, async () => {
  const nameOf = (thread: string) => readFileSync(`/proc/${thread}/comm`, "utf8").trim();
  const before = nameOf("self");
  const inThread = await fromThread(
    `priority.nameThread("execute");
     send(require("node:fs").readFileSync("/proc/thread-self/comm", "utf8").trim());`,
  );
  assert.equal(inThread, "execute");
  assert.equal(nameOf("self"), before);
});
