import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyedLock } from "./sessions.ts";

test("KeyedLock runs the tasks of a key in order, also after one that fails, and other keys beside them", async () => {
  const lock = new KeyedLock();
  const done: string[] = [];
  let releaseFirst = () => {};
  const first = lock.run("a", async () => {
    await new Promise<void>((resolve) => {
      releaseFirst = resolve;
    });
    done.push("first");
    throw new Error("fails");
  });
  const second = lock.run("a", async () => done.push("second"));
  await lock.run("b", async () => done.push("other"));
  releaseFirst();
  await assert.rejects(first, { message: "fails" });
  await second;
  assert.deepEqual(done, ["other", "first", "second"]);
});
