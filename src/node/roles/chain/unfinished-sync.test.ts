import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { UnfinishedSync } from "./unfinished-sync.ts";

let home: string;
let data: string;
let pool: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-unfinished-"));
  data = join(home, "data");
  pool = join(data, "pool");
});
afterEach(() => rmSync(home, { recursive: true }));

/** A chain with waiting transactions, where there are any. */
function createData(waiting?: string): void {
  mkdirSync(join(data, "log"), { recursive: true });
  if (waiting === undefined) return;
  mkdirSync(pool);
  writeFileSync(join(pool, "1.journal"), waiting);
}
const waitingNow = () => readFileSync(join(pool, "1.journal"), "utf8");

test("waiting transactions of the chain before come into the one that is restored, wherever it was stopped", () => {
  const sync = new UnfinishedSync(data, pool);
  createData("acknowledged");
  sync.begin();
  assert.equal(existsSync(data), false);
  // No snapshot came yet: the transactions stay where they are.
  sync.end(STRICT_LOGGER);
  createData();
  sync.end(STRICT_LOGGER);
  assert.equal(waitingNow(), "acknowledged");
  assert.deepEqual(readdirSync(home), ["data"]);
  sync.end(STRICT_LOGGER);
  assert.equal(waitingNow(), "acknowledged");
});

test("a chain that was restored twice has the transactions of both", () => {
  const sync = new UnfinishedSync(data, pool);
  createData("first");
  sync.begin();
  createData();
  sync.end(STRICT_LOGGER);
  sync.begin();
  createData();
  sync.end(STRICT_LOGGER);
  assert.equal(waitingNow(), "first");
});

test("a chain without a pool takes none, and one with its own keeps it", () => {
  const sync = new UnfinishedSync(data, pool);
  createData();
  sync.begin();
  createData("own");
  sync.end(STRICT_LOGGER);
  assert.equal(waitingNow(), "own");
  assert.deepEqual(readdirSync(home), ["data"]);
});
