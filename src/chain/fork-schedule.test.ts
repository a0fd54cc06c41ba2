import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import type { ChainConfig } from "../base/params/chain-config.ts";
import { checkForkSchedule, ForkScheduleError } from "./fork-schedule.ts";

const HEAD = { number: 10, timestamp: 1_000 };
const BLOBS = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n };
const CONFIG: ChainConfig = {
  chainId: 7n,
  londonBlock: 0,
  terminalTotalDifficulty: 0n,
  cancunTime: 0,
  pragueTime: 900,
  osakaTime: 2_000,
  blobSchedule: { cancun: BLOBS, prague: BLOBS, osaka: BLOBS },
};
const { osakaTime: _osaka, ...WITHOUT_OSAKA } = CONFIG;
const { pragueTime: _prague, ...WITHOUT_PRAGUE } = CONFIG;
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "evmint-schedule-"));
  checkForkSchedule(directory, CONFIG, HEAD);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const check = (config: ChainConfig, head = HEAD) => checkForkSchedule(directory, config, head);

test("the same rules, and any after the head, are accepted and stored", () => {
  for (const config of [
    CONFIG,
    { ...CONFIG, osakaTime: 1_001 },
    WITHOUT_OSAKA,
    { ...CONFIG, bpo1Time: 3_000 },
    { ...CONFIG, blobSchedule: { ...CONFIG.blobSchedule, osaka: { ...BLOBS, max: 9 } } },
  ]) {
    check(config);
    check(config, { number: 11, timestamp: 1_000 });
  }
});

test("a rule of blocks that exist cannot change, and a rejected change is not stored", () => {
  for (const [name, config] of [
    ["pragueTime", { ...CONFIG, pragueTime: 901 }],
    ["pragueTime", { ...CONFIG, pragueTime: 5_000 }],
    ["pragueTime", WITHOUT_PRAGUE],
    ["osakaTime", { ...CONFIG, osakaTime: 1_000 }],
    ["bpo1Time", { ...CONFIG, bpo1Time: 0 }],
    ["londonBlock", { ...CONFIG, londonBlock: 5 }],
    ["chainId", { ...CONFIG, chainId: 8n }],
    ["blobSchedule.prague", { ...CONFIG, blobSchedule: { ...CONFIG.blobSchedule, prague: { ...BLOBS, max: 9 } } }],
  ] as const) {
    assert.throws(
      () => check(config),
      (error: unknown) => error instanceof ForkScheduleError && error.details["name"] === name,
    );
    check(CONFIG);
  }
});

test("a fork that a stored schedule had after the head is fixed once the head has passed it", () => {
  const later = { number: 11, timestamp: 2_500 };
  assert.throws(() => check({ ...CONFIG, osakaTime: 2_600 }, later), ForkScheduleError);
  check(CONFIG, later);
});

test("everything may change while there is only block 0", () => {
  check({ ...WITHOUT_PRAGUE, chainId: 8n }, { number: 0, timestamp: 1_000 });
});

test("a damaged file is an error, not a schedule", () => {
  const [file] = readdirSync(directory);
  writeFileSync(join(directory, file!), "{");
  assert.throws(() => check({ ...CONFIG, osakaTime: 3_000 }), ForkScheduleError);
});

test("the file counts no more for what the validators agreed on", () => {
  const later = { ...CONFIG, osakaTime: 950 };
  assert.throws(() => check(later), ForkScheduleError);
  checkForkSchedule(directory, later, HEAD, new Set(["osakaTime"]));
});
