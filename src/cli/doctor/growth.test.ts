import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { loadConfig } from "../../node/config/load.ts";
import { segmentName } from "../../store/storage/log/log-segment.ts";
import { growthFindings, logGrowth } from "./growth.ts";

const DAY_MS = 86_400_000;
const NOW = 100 * DAY_MS;
const at = (daysAgo: number, bytes: number) => ({ writtenMs: NOW - daysAgo * DAY_MS, bytes });

test("growth is what was appended in the newest week", () => {
  // The segment that ended ten days ago is where the measured ones begin.
  assert.equal(logGrowth([at(30, 900), at(10, 900), at(5, 100), at(0, 100)], undefined, NOW), 20);
  assert.equal(logGrowth([at(30, 900), at(10, 900), at(5, 100), at(0, 100)], NOW - 90 * DAY_MS, NOW), 20);
});

test("a log of less than a week is measured from its first block, or else its first whole segment", () => {
  assert.equal(logGrowth([at(0, 50)], NOW - 2 * DAY_MS, NOW), 25);
  assert.equal(logGrowth([at(4, 900), at(2, 40), at(0, 40)], undefined, NOW), 20);
});

test("nothing is said of a log without an hour of blocks", () => {
  assert.equal(logGrowth([], undefined, NOW), undefined);
  assert.equal(logGrowth([at(0, 900)], undefined, NOW), undefined);
  assert.equal(logGrowth([at(0, 900)], NOW - 60_000, NOW), undefined);
});

const home = mkdtempSync(join(tmpdir(), "evmint-growth-"));
after(() => rmSync(home, { recursive: true }));

test("days until the disk is full count the index and CometBFT too, and are no matter with retention", async () => {
  const log = join(home, "data", "log");
  const blocks = join(home, "cometbft", "data", "blockstore.db");
  for (const folder of [log, blocks]) mkdirSync(folder, { recursive: true });
  for (const [number, days] of [10, 0].entries()) {
    const path = join(log, segmentName(number * 8_192));
    writeFileSync(path, new Uint8Array(8_192));
    utimesSync(path, NOW / 1_000, (NOW - days * DAY_MS) / 1_000);
  }
  writeFileSync(join(blocks, "000001.ldb"), new Uint8Array(16_384));
  // 8 KiB of the log in ten days, and as much of CometBFT: 1.6 KiB a day.
  const levels = async (freeBytes: number, flags: Record<string, string> = {}, freeElsewhere = 0) => {
    const { config } = loadConfig({ home, dev: false, flags, environment: {} });
    const fileSystem = (path: string) => ({
      freeBytes: path === home ? freeBytes : freeElsewhere,
      freeFiles: undefined,
      isRemote: false,
    });
    const found = await growthFindings(config, { fileSystem }, { nowMs: NOW, beganMs: undefined });
    return found.map(({ level, text }) => `${level} ${/space for (\w+)/.exec(text)?.[1]}`);
  };
  assert.deepEqual(await levels(1_639 * 40), ["ok 40"]);
  assert.deepEqual(await levels(1_639 * 20), ["warning 20"]);
  assert.deepEqual(await levels(2 ** 40), ["ok years"]);
  assert.deepEqual(await levels(1_639 * 20, { "chain.retain-blocks": "1000" }), ["ok undefined"]);
  // An index of as much on another disk has its own days, and takes none of those of the home.
  mkdirSync(join(home, "data", "index"));
  writeFileSync(join(home, "data", "index", "data.mdb"), new Uint8Array(8_192));
  assert.deepEqual(await levels(1_639 * 40), ["ok 32"]);
  const elsewhere = { "index.path": "/elsewhere" };
  assert.deepEqual(await levels(1_639 * 40, elsewhere, 820 * 50), ["ok 40"]);
  assert.deepEqual(await levels(1_639 * 40, elsewhere, 410 * 7), ["warning 7"]);
});
