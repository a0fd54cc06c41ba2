import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const src = fileURLToPath(new URL("..", import.meta.url));

test("functions that call each other are compiled with and without optimisation on this version of V8", () => {
  const program = fileURLToPath(new URL("testing/compile-calls.ts", import.meta.url));
  // A fault of V8 ends the whole process; an unknown flag is a line of stderr.
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", "--no-warnings", program], {
    encoding: "utf8",
  });
  assert.deepEqual({ status, stdout, stderr }, { status: 0, stdout: "1200000", stderr: "" });
});

test("every module is compiled by compile.ts, which sets V8's flags before", () => {
  const compiling = readdirSync(src, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"))
    .filter((file) => /new WebAssembly\.Module\(|WebAssembly\.compile/.test(source(file)));
  assert.deepEqual(compiling, [join("wasm", "compile.ts")]);
});

function source(file: string): string {
  return readFileSync(join(src, file), "utf8");
}
