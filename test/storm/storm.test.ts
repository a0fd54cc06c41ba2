import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { overIpc } from "../support/clients.ts";
import { IS_NIGHTLY } from "../support/nightly.ts";
import { NodeProcess } from "./node-process.ts";
import { Rpc } from "./rpc.ts";
import { shortStorm } from "./short-storm.ts";

/** `test/storm/run.ts` kills for hours. */
const KILLS = IS_NIGHTLY ? 10 : 5;
/** Blocks of the first lives are before Amsterdam, those of the last after it. */
const FORK_AFTER_SECONDS = 3;
/** In one of so many storms transactions are executed ahead in time, whatever else the machine does: only threads that never do fail. */
const SPECULATION_STORMS_MAX = 20;

for (const processes of [0, 2]) {
  const fork = processes === 0 ? ", across Amsterdam" : "";
  test(`nothing that was answered is lost in ${KILLS} kills, with ${processes} RPC processes${fork}`, async () => {
    const flags = { "json-rpc.processes": String(processes), "consensus.block-time": "instant" };
    const forkAfterSeconds = fork === "" ? undefined : FORK_AFTER_SECONDS;
    const settings = { rpcProcesses: processes, isInstant: true, flags, forkAfterSeconds };
    const { report, kills } = await shortStorm({ seed: 28 + processes, settings, kills: KILLS });
    assert.equal(kills.length, KILLS);
    assert.ok(report.blocks > KILLS);
    assert.ok(report.transactionsAnswered > KILLS);
    assert.ok(report.blocksSeen > 0);
    assert.ok(report.receiptsSeen > 0);
    assert.equal(report.blocksOfAmsterdam > 0, fork !== "");
  });
}

test(`nothing that was answered is lost in ${KILLS} kills of nodes that apply what threads executed ahead`, async () => {
  let applied = 0;
  // A life can send its last transaction before a thread has started: that depends on how busy the machine is.
  for (let seed = 8; applied === 0 && seed < 8 + SPECULATION_STORMS_MAX; seed++) {
    const settings = { flags: { "consensus.block-time": "900ms" } };
    const { report, kills } = await shortStorm({
      seed,
      kills: KILLS,
      speculationThreads: 2,
      awaitsSpeculation: true,
      settings,
    });
    assert.equal(kills.length, KILLS);
    // A life can end before its first block.
    assert.ok(report.blocks > 0);
    assert.ok(report.transactionsAnswered > 0);
    applied += report.speculated["applied"] ?? 0;
  }
  assert.ok(applied > 0);
});

test("RPC processes end with a node that dies while it removes blocks", async () => {
  const directory = mkdtempSync(join(tmpdir(), "evmint-storm-"));
  const flags = {
    "json-rpc.address": "127.0.0.1:0",
    "json-rpc.ws-address": "127.0.0.1:0",
    "json-rpc.processes": "2",
  };
  const node = new NodeProcess({
    home: directory,
    dev: true,
    flags,
    hooks: {},
    logFile: join(directory, "node.log"),
    armed: { step: "rollback:log", hits: 1 },
  });
  try {
    await node.firstAnswer();
    const [from] = await node.rpc.call("eth_accounts");
    for (let blocks = 0; blocks < 4; blocks++) await node.rpc.call("eth_sendTransaction", { from, to: from });
    assert.equal(node.childrenNamed("node").length, 2);
    void overIpc(await node.ipcPath(), "debug_setHead", ["0x1"]);
    // They look at the chain while blocks are being removed, and go on doing so.
    const asked = Array.from({ length: 8 }, () => new Rpc(node.rpc.url).call("eth_blockNumber"));
    await Promise.allSettled(asked);
    assert.equal(await node.exited, "SIGKILL");
    await node.ended();
  } finally {
    await node.kill({ withChildren: true });
    rmSync(directory, { recursive: true });
  }
});
