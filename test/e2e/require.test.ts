import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ENTRY = fileURLToPath(new URL("../../dist/bundle/library.cjs", import.meta.url));

test("a CommonJS program can require the package and run a node", () => {
  const program = `
    const { createNode } = require(${JSON.stringify(ENTRY)});
    createNode().then(async (node) => {
      console.log(await node.provider.request({ method: "eth_chainId" }));
      await node.stop();
    });`;
  const options = ["--input-type=commonjs", "--no-warnings", "--eval", program];
  // Nothing of the flags this test runs with: tsx would hide what plain Node cannot load.
  const env = { PATH: process.env["PATH"] };
  assert.equal(execFileSync(process.execPath, options, { encoding: "utf8", env }).trim(), "0x7a69");
});
