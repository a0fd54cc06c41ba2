import assert from "node:assert/strict";
import { test } from "node:test";
import { KeyedLock } from "./keyed-lock.ts";

test("KeyedLock runs the tasks of a key in order, also after one that fails", async () => {
  const lock = new KeyedLock();
  const done: string[] = [];
  const task = (name: string, ms: number) => async () => {
    await new Promise((resolve) => setTimeout(resolve, ms));
    done.push(name);
    if (name === "fails") throw new Error(name);
    return name;
  };
  const results = await Promise.allSettled([
    lock.run("a", task("fails", 10)),
    lock.run("a", task("second", 1)),
    lock.run("b", task("other", 2)),
  ]);
  assert.deepEqual(done, ["other", "fails", "second"]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "fulfilled", "fulfilled"],
  );
});
