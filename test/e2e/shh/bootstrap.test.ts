import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createFailures } from "../../../src/base/telemetry/failures.ts";
import { fatalTimers } from "../../../src/base/telemetry/fatal-timers.ts";
import { createMetrics } from "../../../src/base/telemetry/metrics.ts";
import { loadConfig } from "../../../src/node/config/load.ts";
import { WhisperService } from "../../../src/node/services/whisper-service.ts";
import { STRICT_LOGGER } from "../../support/base/telemetry/strict-logger.ts";
import { until } from "../../support/until.ts";

test("a node finds whisper of the chain's peers at its own port on their hosts, once", async (t) => {
  const start = async (address: string, hosts: readonly string[]) => {
    const home = mkdtempSync(join(tmpdir(), "evmint-shh-"));
    const flags = { "shh.address": address };
    const { config } = loadConfig({ home, dev: true, flags, environment: {} });
    const metrics = createMetrics();
    const failures = createFailures(STRICT_LOGGER, metrics);
    const modules = { log: STRICT_LOGGER, failures, timers: fatalTimers, metrics, networkHosts: () => hosts };
    const service = await WhisperService.start(config, modules, true);
    t.after(async () => {
      await service.close();
      rmSync(home, { recursive: true, force: true });
    });
    return service;
  };
  const validator = await start("127.0.0.2:0", []);
  const port = /tcp\/(\d+)/.exec(validator.addresses()[0]!)![1];
  const node = await start(`127.0.0.3:${port}`, ["127.0.0.2", "127.0.0.9"]);
  await until(() => node.peers().length > 0 && validator.peers().length > 0, "the connection");
  assert.equal(node.peers().length, 1);
  assert.equal(validator.peers().length, 1);
});
