import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, beforeEach, test } from "node:test";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { forgetLastResult, readStoreRange, setAsideStore } from "./engine-store.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-store-"));
after(() => rmSync(folder, { recursive: true }));

const directory = join(folder, "cometbft");
const data = join(directory, "data");
const STATES = ["priv_validator_state.json", "priv_validator_state.next.json"];

beforeEach(() => {
  rmSync(directory, { recursive: true, force: true });
  for (const name of ["blockstore.db", "cs.wal", "state.db"]) mkdirSync(join(data, name), { recursive: true });
  for (const name of STATES) writeFileSync(join(data, name), name);
});

/** A program in place of cometbft. */
function program(lines: string): string {
  const path = join(folder, "cometbft-program");
  writeFileSync(path, `#!/bin/sh\n${lines}\n`);
  chmodSync(path, 0o700);
  return path;
}

test("setAsideStore moves all but the signing states, which stay as they are", () => {
  const target = join(folder, "aside", "all");
  setAsideStore(directory, target);
  assert.deepEqual(readdirSync(data).sort(), STATES);
  for (const name of STATES) assert.equal(readFileSync(join(data, name), "utf8"), name);
  assert.deepEqual(readdirSync(target).sort(), ["blockstore.db", "cs.wal", "state.db"]);
});

test("setAsideStore moves the blocks last, and a second call moves the rest", () => {
  // Nothing can be moved over a folder with something in it: the first call ends there, as by a crash.
  const target = join(folder, "aside", "blocked");
  mkdirSync(join(target, "state.db", "file"), { recursive: true });
  assert.throws(() => setAsideStore(directory, target));
  assert.ok(existsSync(join(data, "blockstore.db")) && existsSync(join(data, "state.db")));
  setAsideStore(directory, join(folder, "aside", "rest"));
  assert.deepEqual(readdirSync(data).sort(), STATES);
});

test("forgetLastResult removes no block, and an error of the program is its own", async () => {
  const log = join(folder, "arguments");
  await forgetLastResult({ binary: program(`echo "$@" > ${log}`), directory });
  assert.equal(readFileSync(log, "utf8"), `rollback --home ${directory}\n`);
  const failing = program(
    'echo "Usage:"; echo "ERROR: failed to rollback state: block at height 4 not found" >&2; exit 1',
  );
  await assert.rejects(forgetLastResult({ binary: failing, directory }), { code: "ENGINE_ROLLBACK_FAILED" });
  await assert.rejects(forgetLastResult({ binary: join(folder, "none"), directory }), { code: "ENOENT" });
});

test("readStoreRange is an error where the program ends without an answer", async () => {
  await assert.rejects(readStoreRange({ binary: program("exit 1"), directory }, fatalTimers), { code: "ENGINE_RPC" });
});
