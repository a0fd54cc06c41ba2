import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { pauseThread } from "../../chain/store/follow/store-follower.ts";
import { hasEnded } from "./ended-process.ts";

const skip = process.platform === "linux" ? false : "/proc is on Linux only";

test("hasEnded sees the end of a child of which a blocked thread gets no event", { skip }, async () => {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  await once(child, "spawn");
  const pid = child.pid!;
  assert.equal(hasEnded(pid), false);
  process.kill(pid, "SIGKILL");
  while (!hasEnded(pid)) pauseThread();
  await once(child, "exit");
  assert.equal(hasEnded(pid), false);
});
