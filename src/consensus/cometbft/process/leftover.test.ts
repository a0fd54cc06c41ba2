import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { STRICT_LOGGER } from "../../../../test/support/base/telemetry/strict-logger.ts";
import { endLeftoverEngines } from "./leftover.ts";

test("only a CometBFT on the same home is killed", { skip: process.platform !== "linux" && "no /proc" }, async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-leftover-"));
  const otherHome = mkdtempSync(join(tmpdir(), "evmint-leftover-"));
  const leftover = await start(home, ["start", "--home", home]);
  const others = await Promise.all([
    start(otherHome, ["start", "--home", home]),
    start(home, ["version", "--home", home]),
    start(home, []),
  ]);
  try {
    endLeftoverEngines(home, STRICT_LOGGER);
    const [, signal] = await once(leftover, "exit");
    assert.equal(signal, "SIGKILL");
    for (const other of others) assert.equal(other.kill(0), true);
    endLeftoverEngines(home, STRICT_LOGGER);
  } finally {
    for (const child of [leftover, ...others]) child.kill("SIGKILL");
    rmSync(home, { recursive: true });
    rmSync(otherHome, { recursive: true });
  }
});

/** A process that waits, with the given arguments. */
async function start(cwd: string, args: readonly string[]): Promise<ChildProcess> {
  const script = "process.stdout.write('ready'); setInterval(() => {}, 1_000)";
  const child = spawn(process.execPath, ["-e", script, "--", ...args], { cwd, stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout!, "data");
  return child;
}
