import assert from "node:assert/strict";
import { test } from "node:test";
import { Resources } from "./resources.ts";

test("Resources are released in reverse order, all of them, and the first failure is thrown", async () => {
  const released: string[] = [];
  const resources = new Resources();
  resources.add(() => void released.push("store"));
  resources.add(async () => {
    released.push("pool");
    throw new Error("pool");
  });
  resources.add(() => {
    released.push("server");
    throw new Error("server");
  });
  await assert.rejects(resources.close(), { message: "server" });
  assert.deepEqual(released, ["server", "pool", "store"]);
  await resources.close();
  assert.equal(released.length, 3);
});

test("what was added is released when opening fails, whose error is thrown", async () => {
  const released: string[] = [];
  const resources = new Resources();
  const opened = resources.during(async () => {
    resources.add(() => {
      released.push("store");
      throw new Error("closing");
    });
    throw new Error("opening");
  });
  await assert.rejects(opened, { message: "opening" });
  assert.deepEqual(released, ["store"]);
});
