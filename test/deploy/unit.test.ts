import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../../scripts/reference/page.ts";

const UNIT = join(ROOT, "deploy/evmint.service");

/** Tenths of the exposure that systemd computes, 0 to 100. */
const EXPOSURE_MAX = 25;

/** The program came with systemd 250. */
const hasAnalyze = spawnSync("systemd-analyze", ["security", "--help"]).status === 0;

test(`the exposure of the systemd unit is ${EXPOSURE_MAX / 10} or less`, {
  skip: !hasAnalyze && "systemd-analyze is not on PATH",
}, () => {
  const args = ["security", "--offline=true", "--no-pager", `--threshold=${EXPOSURE_MAX}`, UNIT];
  const { status, stdout } = spawnSync("systemd-analyze", args, { encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

test("the systemd unit lets V8 make code, and the home be written", () => {
  const lines = readFileSync(UNIT, "utf8").split("\n");
  assert.ok(!lines.some((line) => line.startsWith("MemoryDenyWriteExecute=")));
  const settingOf = (key: string) => lines.find((line) => line.startsWith(`${key}=`))?.split("=")[1];
  assert.equal(settingOf("UMask"), "0077");
  assert.equal(`/var/lib/${settingOf("StateDirectory")}`, "/var/lib/evmint");
  assert.ok(lines.includes("Environment=EVMINT_HOME=/var/lib/evmint"));
});
