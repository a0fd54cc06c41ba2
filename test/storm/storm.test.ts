import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { dataPath, poolPath } from "../../src/node/config/home.ts";
import { overIpc } from "../support/clients.ts";
import { freePort } from "../support/free-port.ts";
import { assertExpected, errorLinesOf } from "../support/node-log.ts";
import type { FailureCode } from "./failure.ts";
import { StormFailure } from "./failure.ts";
import { NodeProcess } from "./node-process.ts";
import { Rpc } from "./rpc.ts";
import type { HomeReport, KillResult } from "./storm.ts";
import { StormHome, type StormHomeOptions } from "./storm-home.ts";
import { logFileOf } from "./storm-node.ts";

/** The nightly run kills for hours. */
const KILLS = 10;
/** Blocks of the first lives are before Amsterdam, those of the last after it. */
const FORK_AFTER_SECONDS = 3;
/** A faulty node is found out by then. */
const FAULTY_KILLS_MAX = 25;
/** In one of so many storms transactions are executed ahead in time, whatever else the machine does: only threads that never do fail. */
const SPECULATION_STORMS_MAX = 20;
/** Of the node's log, shown with a failure. */
const LOG_LINES = 60;
/** Transactions wait in the pool, and blocks follow each other all the same. */
const WAITING = { "consensus.block-time": "300ms" };

/** Draws a dev chain, which has methods that change it by hand. */
const DEV_SEED = 3;

/** Of a node whose RPC process is killed. */
const POSSIBLE_ERRORS = [/RPC process ended, starting another.*"reason":"SIGKILL"/];

type Given = Partial<Omit<StormHomeOptions, "directory" | "firstPort" | "onKill">>;

for (const processes of [0, 2]) {
  const fork = processes === 0 ? ", across Amsterdam" : "";
  test(`nothing that was answered is lost in ${KILLS} kills, with ${processes} RPC processes${fork}`, async () => {
    const flags = { "json-rpc.processes": String(processes), "consensus.block-time": "instant" };
    const forkAfterSeconds = fork === "" ? undefined : FORK_AFTER_SECONDS;
    const settings = { rpcProcesses: processes, isInstant: true, flags, forkAfterSeconds };
    const { report, kills } = await storm({ seed: 28 + processes, settings, kills: KILLS });
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
  // How many are executed in time depends on how busy the machine is: with few cores a life can end before a thread is of use.
  for (let seed = 8; applied === 0 && seed < 8 + SPECULATION_STORMS_MAX; seed++) {
    const settings = { flags: { "consensus.block-time": "900ms" } };
    const { report, kills } = await storm({ seed, kills: KILLS, speculationThreads: 2, settings });
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

const FAULTS: readonly (Given & { readonly name: string; readonly codes: readonly FailureCode[] })[] = [
  {
    name: "the pool's journal is gone after a kill",
    codes: ["TRANSACTION_LOST"],
    settings: { isInstant: false, flags: WAITING },
    whileDead: (home) => rmSync(poolPath(home), { recursive: true, force: true }),
  },
  {
    name: "the newest records of the pool's journal are gone after a kill",
    codes: ["TRANSACTION_LOST"],
    settings: { isInstant: false, flags: WAITING },
    whileDead: (home) => cutNewest(poolPath(home), 0.5),
  },
  {
    name: "a transaction is answered before it is in the journal",
    codes: ["TRANSACTION_LOST"],
    settings: { isInstant: false, flags: WAITING, preload: new URL("late-journal.mjs", import.meta.url).href },
  },
  {
    name: "the newest blocks of the log are gone after a kill",
    codes: ["BLOCK_LOST", "BLOCK_CHANGED", "NO_START"],
    settings: { flags: { "consensus.block-time": "instant" } },
    whileDead: (home) => cutNewest(join(dataPath(home), "log"), 0.3),
  },
  {
    name: "the disk has what it had before",
    codes: ["BLOCK_LOST", "BLOCK_CHANGED"],
    settings: { flags: { "consensus.block-time": "instant" } },
    whileDead: restoreOnce(),
  },
  {
    name: "blocks are removed that nobody asked to remove",
    codes: ["BLOCK_LOST", "BLOCK_CHANGED"],
    seed: DEV_SEED,
    settings: { retainedBlocks: undefined, flags: { "consensus.block-time": "instant" } },
    whileAlive: async ({ process }) => {
      const head = Number(await process.rpc.call("eth_blockNumber"));
      if (head > 3) await overIpc(await process.ipcPath(), "debug_setHead", [`0x${(head - 3).toString(16)}`]);
    },
  },
  {
    name: "a balance changes by itself",
    codes: ["STATE_DIFFERS"],
    seed: DEV_SEED,
    settings: { flags: { "consensus.block-time": "instant" } },
    whileAlive: async ({ process, ledger }) => {
      const account = ledger.model.accounts.at(-1)!;
      await overIpc(await process.ipcPath(), "hardhat_setBalance", [account, "0x1"]);
    },
  },
];

for (const { name, codes, ...given } of FAULTS) {
  test(`the storm finds a node out where ${name}`, async () => {
    await assert.rejects(storm({ seed: 1, kills: FAULTY_KILLS_MAX, ...given }), (error) => {
      assert.ok(error instanceof StormFailure, `${error}`);
      assert.ok(codes.includes(error.code), `${error}`);
      return true;
    });
  });
}

async function storm(given: Pick<StormHomeOptions, "seed" | "kills"> & Given) {
  const directory = mkdtempSync(join(tmpdir(), "evmint-storm-"));
  const kills: KillResult[] = [];
  const onKill = (kill: KillResult) => kills.push(kill);
  try {
    const home = new StormHome({ engine: "solo", directory, firstPort: await freePort(), onKill, ...given });
    const report: HomeReport = await home.run();
    assertExpected(errorLinesOf(readFileSync(logFileOf(directory), "utf8")), [], POSSIBLE_ERRORS);
    return { report, kills };
  } catch (error) {
    const lines = readFileSync(logFileOf(directory), "utf8").split("\n").slice(-LOG_LINES);
    if (error instanceof Error) error.message += `\nThe log ends with:\n${lines.join("\n")}`;
    throw error;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Leaves the first `share` of the newest file in a folder, as if the rest had been in memory alone. */
function cutNewest(folder: string, share: number): void {
  const newest = readdirSync(folder).sort().at(-1);
  if (newest === undefined) return;
  const file = join(folder, newest);
  truncateSync(file, Math.floor(statSync(file).size * share));
}

/** Copies the data of a dead node at first, and puts it back some lives later. */
function restoreOnce(): (home: string) => void {
  let deaths = 0;
  return (home) => {
    const data = dataPath(home);
    const copy = `${home}-before`;
    deaths++;
    if (deaths === 2) cpSync(data, copy, { recursive: true });
    if (deaths !== 5) return;
    rmSync(data, { recursive: true });
    cpSync(copy, data, { recursive: true });
  };
}
