import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { createMetrics } from "../../base/telemetry/metrics.ts";
import { DiskUsage } from "./disk-usage.ts";

test("parts of a home are measured with all below them, and one that is not there takes nothing; once a minute", async () => {
  const timers = new ManualTimers();
  const home = mkdtempSync(join(tmpdir(), "evmint-disk-"));
  mkdirSync(join(home, "data", "log", "deep"), { recursive: true });
  writeFileSync(join(home, "data", "log", "0"), new Uint8Array(8_192));
  writeFileSync(join(home, "data", "log", "deep", "1"), new Uint8Array(4_096));
  const metrics = createMetrics();
  let measured = () => {};
  const usage = new DiskUsage(home, {
    timers,
    metrics: {
      gauge(options) {
        const gauge = metrics.gauge(options);
        return {
          ...gauge,
          set(value: number, labels?: Readonly<Record<string, string>>) {
            gauge.set(value, labels);
            // What is free is measured last.
            if (options.name === "disk_free_bytes") measured();
          },
        };
      },
    },
  });
  const measurement = () => new Promise<void>((resolve) => (measured = resolve));
  try {
    const metricOf = (name: string) => {
      const line = metrics
        .exposition()
        .split("\n")
        .find((each) => each.startsWith(`${name} `));
      return line === undefined ? undefined : Number(line.slice(line.lastIndexOf(" ")));
    };
    await measurement();
    assert.ok(metricOf('evmint_disk_bytes{part="log"}')! >= 12_288);
    assert.equal(metricOf('evmint_disk_bytes{part="index"}'), 0);
    assert.ok(metricOf("evmint_disk_free_bytes")! > 0);
    mkdirSync(join(home, "data", "index"));
    writeFileSync(join(home, "data", "index", "data.mdb"), new Uint8Array(4_096));
    const next = measurement();
    await timers.advance(60_000);
    await next;
    assert.ok(metricOf('evmint_disk_bytes{part="index"}')! >= 4_096);
  } finally {
    usage.close();
    rmSync(home, { recursive: true });
  }
});
