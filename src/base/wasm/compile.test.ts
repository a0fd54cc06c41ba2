import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { testProgram } from "../../../test/support/test-program.ts";

test("functions that call each other are compiled with and without optimisation on this version of V8", () => {
  const { execArgv, file } = testProgram(new URL("../../../test/support/base/wasm/compile-calls.ts", import.meta.url));
  // A fault of V8 ends the whole process; an unknown flag is a line of stderr.
  const { status, stdout, stderr } = spawnSync(process.execPath, [...execArgv, "--no-warnings", file], {
    encoding: "utf8",
  });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: "1200000", stderr: "" });
});
