import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { overHttp } from "../../support/clients.ts";
import { startEvmintd } from "../../support/evmintd.ts";

const ARGS = ["--dev"];

test("an identity and a group that were answered survive a kill of the node", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-shh-kill-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const known: string[] = [];
  for (let round = 0; round < 2; round++) {
    const { url, child, exited } = await startEvmintd(home, ARGS);
    for (const identity of known) {
      assert.equal((await overHttp(url, "shh_hasIdentity", [identity])).result, true);
    }
    for (const [method, params] of [
      ["shh_newIdentity", []],
      ["shh_newGroup", []],
    ] as const) {
      known.push((await overHttp(url, method, params)).result as string);
    }
    child.kill("SIGKILL");
    assert.equal(await exited, "SIGKILL");
  }
  const { url, child, exited } = await startEvmintd(home, ARGS);
  for (const identity of known) {
    assert.equal((await overHttp(url, "shh_hasIdentity", [identity])).result, true);
  }
  child.kill("SIGTERM");
  assert.equal(await exited, 0);
});

test("a built node that listens for Whisper peers starts without a warning of Node.js", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-shh-warning-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const { output, child, exited } = await startEvmintd(home, ["--dev", "--shh.address", "127.0.0.1:0"]);
  child.kill("SIGTERM");
  assert.equal(await exited, 0);
  assert.match(output.stderr, /whisper/);
  assert.doesNotMatch(output.stderr, /Warning/);
});
