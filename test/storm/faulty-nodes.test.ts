import assert from "node:assert/strict";
import { cpSync, readdirSync, rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { dataPath, poolPath } from "../../src/node/config/home.ts";
import { overIpc } from "../support/clients.ts";
import type { FailureCode } from "./failure.ts";
import { StormFailure } from "./failure.ts";
import { type ShortStorm, shortStorm } from "./short-storm.ts";

/** A faulty node is found out by then. */
const FAULTY_KILLS_MAX = 25;
/** Transactions wait in the pool, and blocks follow each other all the same. */
const WAITING = { "consensus.block-time": "300ms" };

/** Draws a dev chain, which has methods that change it by hand. */
const DEV_SEED = 3;

const FAULTS: readonly (Partial<ShortStorm> & { readonly name: string; readonly codes: readonly FailureCode[] })[] = [
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
    await assert.rejects(shortStorm({ seed: 1, kills: FAULTY_KILLS_MAX, ...given }), (error) => {
      assert.ok(error instanceof StormFailure, `${error}`);
      assert.ok(codes.includes(error.code), `${error}`);
      return true;
    });
  });
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
