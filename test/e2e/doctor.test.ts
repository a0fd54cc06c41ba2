import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { networkFindings } from "../../src/cli/doctor/network.ts";
import { thisSystem } from "../../src/cli/doctor/system.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { startConfiguredNode } from "../support/configured-node.ts";

test("the doctor compares a running node with its home and with other nodes", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-doctor-"));
  const node = await startConfiguredNode({ home, settings: { "ipc.path": "evmint.ipc" } });
  const same = await startConfiguredNode();
  const other = await startConfiguredNode({ settings: { "json-rpc.require-token": "true" } });
  try {
    const { config } = loadConfig({ home, dev: false, flags: { "consensus.block-time": "instant" }, environment: {} });
    const peers = [same.url, other.url];
    const findings = await networkFindings(config, thisSystem(), { now: Date.now, timers: fatalTimers }, { peers });
    assert.deepEqual(
      findings.map(({ level, subject }) => `${level} ${subject}`),
      ["ok node", "ok genesis", "ok head", "ok growth", "ok peer", "warning peer"],
      JSON.stringify(findings, null, 2),
    );
    await node.stop();
    const [first, ...others] = await networkFindings(
      config,
      thisSystem(),
      { now: Date.now, timers: fatalTimers },
      { peers: [same.url] },
    );
    assert.match(first!.text, /^no node is running/);
    assert.deepEqual(
      others.map(({ level, subject }) => `${level} ${subject}`),
      ["ok growth", "ok peer"],
    );
  } finally {
    await Promise.all([node.stop(), same.stop(), other.stop()]);
    rmSync(home, { recursive: true });
  }
});
