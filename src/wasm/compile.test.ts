import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("functions that call each other are compiled with and without optimisation on this version of V8", () => {
  const program = fileURLToPath(new URL("testing/compile-calls.ts", import.meta.url));
  // A fault of V8 ends the whole process; an unknown flag is a line of stderr.
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", "--no-warnings", program], {
    encoding: "utf8",
  });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: "1200000", stderr: "" });
});
