import assert from "node:assert/strict";
import { test } from "node:test";
import type { Logger } from "../../../base/telemetry/logger.ts";
import { SILENT_LOGGER } from "../../../base/telemetry/logger.ts";
import { createMetrics } from "../../../base/telemetry/metrics.ts";
import { ClockSkew } from "./block-watchers.ts";

/** Blocks a second apart on a machine whose clock is off by `offsetMs`; block H has the time at which H - 1 was signed. */
function open() {
  const metrics = createMetrics();
  const lines: string[] = [];
  const note = (level: string) => (_: string, data?: object) =>
    void lines.push(`${level} ${(data as { skewMs: number }).skewMs}`);
  const log: Logger = { ...SILENT_LOGGER, error: note("error"), info: note("info") };
  let networkMs = 1_700_000_000_000;
  let offsetMs = 0;
  let height = 0;
  const skew = new ClockSkew({ wallClock: () => networkMs + offsetMs, log, metrics });
  return {
    lines,
    gauge: () => Number(/^evmint_clock_skew_seconds (\S+)/m.exec(metrics.exposition())?.[1]),
    decide(blocks: number, offset: number, isReplay = false) {
      offsetMs = offset;
      for (let i = 0; i < blocks; i++) {
        height++;
        const time = { seconds: Math.floor(networkMs / 1000), nanos: (networkMs % 1000) * 1e6 };
        if (!isReplay) skew.proposed({ height, time });
        networkMs += 1_000;
        skew.finalized({ height });
      }
    },
  };
}

test("a clock that differs by more than two seconds is an error after three blocks, once, until it is right", () => {
  for (const offset of [-90_000, 90_000, 2_001]) {
    const { decide, lines, gauge } = open();
    decide(3, 0);
    assert.equal(gauge(), 0);
    decide(3, offset);
    assert.deepEqual(lines, []);
    decide(10, offset);
    assert.deepEqual(lines, [`error ${offset}`]);
    assert.equal(gauge(), offset / 1000);
    decide(3, 0);
    assert.deepEqual(lines, [`error ${offset}`, "info 0"]);
  }
});

test("a clock within two seconds, and blocks that are replayed, are no error", () => {
  const { decide, lines } = open();
  decide(10, 1_999);
  decide(10, 0);
  decide(100, 90_000, true);
  assert.deepEqual(lines, []);
});
