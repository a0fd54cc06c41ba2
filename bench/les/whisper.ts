import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFailures } from "../../src/base/telemetry/failures.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { createMetrics } from "../../src/base/telemetry/metrics.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { WhisperService } from "../../src/node/services/whisper-service.ts";
import { printTable, writeResult } from "../support/report.ts";

const PAYLOAD_BYTES = 1024;

/**
 * `npm run bench -- whisper [ENVELOPES]`: envelopes of 1 KB posted on the first of three nodes in a line, in one process: the time until all are
 * on the last, and processor time for each on all three.
 */
export async function run([countText = "10000"]: readonly string[]): Promise<void> {
  const count = Number(countText);
  const homes = Array.from({ length: 3 }, () => mkdtempSync(join(tmpdir(), "evmint-bench-")));
  const arrived = { count: 0 };
  const start = (home: string, peers: string) => {
    const flags = { "shh.address": "127.0.0.1:0", "shh.peers": peers };
    const { config } = loadConfig({ home, dev: true, flags, environment: {} });
    const metrics = createMetrics();
    const failures = createFailures(SILENT_LOGGER, metrics);
    return WhisperService.start(
      config,
      { log: SILENT_LOGGER, failures, timers: fatalTimers, metrics, networkHosts: () => [] },
      true,
    );
  };
  const nodes: WhisperService[] = [];
  try {
    nodes.push(await start(homes[0]!, ""));
    nodes.push(await start(homes[1]!, nodes[0]!.addresses()[0]!));
    nodes.push(await start(homes[2]!, nodes[1]!.addresses()[0]!));
    while (nodes[1]!.peers().length < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    const { port: first } = nodes[0]!;
    const { port: last } = nodes[2]!;
    const filter = await last.newMessageFilter({ to: undefined, from: undefined, topics: [] });
    const cpuBefore = process.cpuUsage();
    const begin = performance.now();
    for (let i = 0; i < count; i++) {
      const payload = Buffer.alloc(PAYLOAD_BYTES);
      payload.writeUInt32BE(i);
      await first.post({
        from: undefined,
        to: undefined,
        topics: [],
        payload,
        priority: 0,
        ttl: 600,
      });
    }
    const postedMs = performance.now() - begin;
    while (arrived.count < count) {
      arrived.count += (await last.messageFilterChanges({ id: filter })).length;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const totalMs = performance.now() - begin;
    const { user, system } = process.cpuUsage(cpuBefore);
    const rows = [
      { what: "posted, ms", value: Math.round(postedMs) },
      { what: "all on the third node, ms", value: Math.round(totalMs) },
      {
        what: "processor time of an envelope on three nodes, us",
        value: Math.round((user + system) / count),
      },
    ];
    printTable(rows);
    writeResult("whisper", rows, { count, payloadBytes: PAYLOAD_BYTES });
  } finally {
    await Promise.all(nodes.map((node) => node.close()));
    for (const home of homes) rmSync(home, { recursive: true, force: true });
  }
}
