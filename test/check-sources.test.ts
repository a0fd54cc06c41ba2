import assert from "node:assert/strict";
import { test } from "node:test";
import { checkSources } from "../scripts/check-sources.ts";
import { ERROR_CODES } from "../src/base/error-codes.ts";

const codes = Object.keys(ERROR_CODES)
  .map((code) => `"${code}"`)
  .join();
const faultsOf = (path: string, text: string) => checkSources(new Map([["codes.ts", codes]]).set(path, text));

test("checkSources names a call outside of the one file that may make it", () => {
  for (const [file, call] of [
    ["base/wasm/compile.ts", "new WebAssembly.Module(bytes)"],
    ["base/threads/start-thread.ts", "worker.terminate()"],
  ] as const) {
    assert.deepEqual(faultsOf(file, call), []);
    assert.match(faultsOf("evm/other.ts", call)[0]!, /^src\/evm\/other\.ts: /);
  }
});

test("checkSources names a code of an error that no class has", () => {
  const [code] = Object.keys(ERROR_CODES);
  const faults = checkSources(new Map([["codes.ts", codes.replace(`"${code}"`, "")]]));
  assert.deepEqual(faults, [`src/base/error-codes.ts: no class has the code ${code}`]);
});
