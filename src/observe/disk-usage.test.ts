import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createFailures } from "../telemetry/failures.ts";
import { SILENT_LOGGER } from "../telemetry/logger.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { DiskUsage } from "./disk-usage.ts";

test("parts of a home are measured with all below them, and one that is not there takes nothing", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-disk-"));
  mkdirSync(join(home, "data", "log", "deep"), { recursive: true });
  writeFileSync(join(home, "data", "log", "0"), new Uint8Array(8_192));
  writeFileSync(join(home, "data", "log", "deep", "1"), new Uint8Array(4_096));
  const metrics = createMetrics();
  const usage = new DiskUsage(home, { metrics, failures: createFailures(SILENT_LOGGER, metrics) });
  try {
    const metricOf = (name: string) => {
      const line = metrics
        .exposition()
        .split("\n")
        .find((each) => each.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")));
    };
    while (metricOf("evmint_disk_free_bytes") === undefined || metricOf("evmint_disk_free_bytes") === 0)
      await setTimeout(5);
    assert.ok(metricOf('evmint_disk_bytes{part="log"}')! >= 12_288);
    assert.equal(metricOf('evmint_disk_bytes{part="index"}'), 0);
    assert.ok(metricOf("evmint_disk_free_bytes")! > 0);
  } finally {
    usage.close();
    rmSync(home, { recursive: true });
  }
});
