import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { loadForkChoice } from "../../../dev/fork/fork-point.ts";
import { forkPointPath, pendingResetPath } from "../../config/home.ts";
import { beginReset, finishReset } from "./reset-home.ts";

test("a reset that was begun is finished at the next start: all data of the chain goes, stored values stay", (context) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-reset-home-"));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  for (const name of ["log", "index", "dapp-db", "instance-id"]) {
    mkdirSync(join(home, "data", name), { recursive: true });
    writeFileSync(join(home, "data", name, "file"), "");
  }
  finishReset(home);
  assert.equal(readdirSync(join(home, "data")).length, 4);
  assert.equal(loadForkChoice(forkPointPath(home)), undefined);
  beginReset(home, null);
  assert.equal(readdirSync(join(home, "data")).length, 4);
  finishReset(home);
  assert.deepEqual(readdirSync(join(home, "data")), ["dapp-db"]);
  assert.equal(loadForkChoice(forkPointPath(home)), null);
  assert.equal(existsSync(pendingResetPath(home)), false);
});
