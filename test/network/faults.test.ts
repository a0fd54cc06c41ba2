import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { runFaults } from "./faults/network-faults.ts";
import { nameOf } from "./faults/topology.ts";
import { whyLeftOut } from "./network.ts";

const FAULTS = 8;
/** Draws kills, stops and partitions, one of the sentry, lost disks, and a restored validator. */
const SEED = 4;

test(`nothing is lost, signed twice or served late in ${FAULTS} faults of a network with a sentry`, {
  skip: whyLeftOut(),
}, async (t) => {
  const logFolder = mkdtempSync(join(tmpdir(), "evmint-faults-"));
  const report = await runFaults({
    seed: SEED,
    faults: FAULTS,
    secondsMax: 6,
    // Other tests may share the machine: only a chain that stands still is wrong. `npm run storm:network -- --quiet` asserts 10 seconds.
    gapMsMax: 300_000,
    logFolder,
    onFault: ({ kind, node, recoveryMs, gapMs }) =>
      t.diagnostic(
        `${nameOf(node)}: ${kind}: recovered after ${Math.round(recoveryMs)} ms, ${Math.round(gapMs)} ms without a block`,
      ),
  });
  t.diagnostic(JSON.stringify(report.samples));
  assert.deepEqual(report.failures, []);
  assert.equal(report.faults.length, FAULTS);
  assert.ok(report.chain.acknowledged > FAULTS);
  assert.ok(report.samples.ready > 0 && report.samples.notReady > 0);
  rmSync(logFolder, { recursive: true });
});
