import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { fatalTimers } from "../../../base/telemetry/fatal-timers.ts";
import { loadConfig } from "../../config/load.ts";
import { openChain } from "./open-chain.ts";
import { openFork } from "./open-fork.ts";

function configOf(home: string, { dev = false, flags = {} } = {}) {
  return loadConfig({ home, dev, flags, environment: {} }).config;
}

test("a home without a chain is an error, and nothing is made in it", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-open-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const home = join(folder, "mistaken");
  assert.throws(() => openChain(configOf(home), { log: STRICT_LOGGER, timers: fatalTimers }), {
    code: "HOME_NOT_INITIALISED",
  });
  assert.ok(!existsSync(home));
});

test("a block to fork without the nodes of its chain is an error", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-open-"));
  t.after(() => rmSync(home, { recursive: true }));
  const config = configOf(home, { dev: true, flags: { "fork-block": "5" } });
  await assert.rejects(openFork(config, { log: STRICT_LOGGER, timers: fatalTimers }), { code: "CONFIG_INVALID" });
});

test("openChain moves the index to index.path for a node, and leaves it where it is for a command", (t) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-open-"));
  t.after(() => rmSync(home, { recursive: true }));
  const modules = { log: STRICT_LOGGER, timers: fatalTimers };
  const elsewhere = configOf(home, { dev: true, flags: { "index.path": "elsewhere" } });
  const open = (config: typeof elsewhere, movesIndex: boolean) => {
    const { store } = openChain(config, modules, { movesIndex });
    assert.equal(store.replayedBlocks, 0);
    store.close();
  };
  const isMoved = () => existsSync(join(home, "elsewhere", "data.mdb"));
  open(elsewhere, false);
  assert.ok(!isMoved());
  open(elsewhere, true);
  assert.ok(isMoved());
  open(configOf(home, { dev: true }), false);
  assert.ok(isMoved());
  open(configOf(home, { dev: true }), true);
  assert.ok(!isMoved());
});
