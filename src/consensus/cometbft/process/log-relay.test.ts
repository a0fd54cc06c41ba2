import assert from "node:assert/strict";
import { test } from "node:test";
import { SILENT_LOGGER } from "../../../base/telemetry/logger.ts";
import type { LogRecord } from "./output.ts";
import { LogRelay } from "./output.ts";

const record = (level: LogRecord["level"]): LogRecord => ({
  level,
  module: "p2p",
  message: "Stopping peer for error",
  fields: { err: "x" },
});

test("errors that peers cause fill the log no faster than some lines a second, and are counted", () => {
  let now = 0;
  const warnings: unknown[] = [];
  let debugs = 0;
  const log = {
    ...SILENT_LOGGER,
    warn: (_: string, data?: object) => void warnings.push(data),
    debug: () => void debugs++,
  };
  const relay = new LogRelay(log, () => now);
  for (let i = 0; i < 1_000; i++) relay.record(record("error"));
  assert.equal(warnings.length, 20);
  assert.equal(debugs, 980);
  now = 10_000;
  relay.record(record("error"));
  assert.deepEqual(warnings.slice(20), [{ left: 980 }, { err: "x", module: "p2p" }]);
  for (let i = 0; i < 1_000; i++) relay.record(record("info"));
  assert.equal(warnings.length, 22);
});
