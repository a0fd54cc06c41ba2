import assert from "node:assert/strict";
import { test } from "node:test";
import { createFailures } from "../../../../src/base/telemetry/failures.ts";
import { createMetrics } from "../../../../src/base/telemetry/metrics.ts";
import { STRICT_LOGGER } from "./strict-logger.ts";

test("STRICT_LOGGER throws what is logged as an error, also through Failures and children, and nothing else", () => {
  const bug = new TypeError("injected");
  const log = STRICT_LOGGER.child("chain");
  assert.throws(() => log.error("listener failed", { error: bug }), { cause: bug });
  assert.throws(() => createFailures(log, createMetrics()).report("timer", bug), { cause: bug });
  log.warn("late");
});
