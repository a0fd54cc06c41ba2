import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { fakeContext } from "../../test/support/cli/fake-context.ts";
import { runCli } from "./program.ts";

const NODE = "http://me:hunter2@127.0.0.1:1/KEY";

/** Runs `evmintd explorer` until it listens; what it printed. */
async function startAndStop(...args: readonly string[]) {
  const { context, output, signal } = fakeContext();
  const listening = once(context.stdout, "data");
  const ended = runCli(["explorer", "--rpc", NODE, ...args], context);
  await Promise.race([listening, ended]);
  signal();
  assert.equal(await ended, 0, output.stderr);
  return output;
}

test("evmintd explorer warns where other machines reach it, and has no secret of the node's URL in its texts", async () => {
  const open = await startAndStop("--address", "0.0.0.0:0");
  assert.notEqual(open.stderr, "");
  const own = await startAndStop("--address", "127.0.0.1:0");
  assert.equal(own.stderr, "");
  for (const { stdout, stderr } of [open, own]) assert.doesNotMatch(stdout + stderr, /hunter2|KEY/);
});

test("evmintd explorer does not repeat an address of a node that it cannot use", async () => {
  for (const rpc of ["ftp://me:hunter2@h", "//me:hunter2@h", "me:hunter2@h:8545", "hunter2"]) {
    const { context, output } = fakeContext();
    assert.equal(await runCli(["explorer", "--rpc", rpc], context), 2);
    assert.doesNotMatch(output.stderr, /hunter2/);
  }
});
