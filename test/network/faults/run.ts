/**
 * A network of real nodes under load, to which one fault after the other happens: `npm run storm:network -- [FAULTS] [--seed N] [--quiet]`.
 *
 * A hundred faults take half an hour. `--quiet` says that the machine does nothing else: then no more than 10 seconds may pass without a block; else a minute.
 * SIGINT or SIGTERM ends the run after the fault that it is at. The results are in bench/results/network-faults.json. docs/storm.md
 */
import { randomInt } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeResult } from "../../../bench/support/report.ts";
import { runFaults } from "./network-faults.ts";
import { kindRows, printReport, summaryOf } from "./report.ts";
import { nameOf } from "./topology.ts";

const SECONDS_MAX = 30;
const GAP_MS_MAX = { quiet: 10_000, busy: 60_000 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string" }, quiet: { type: "boolean", default: false } },
});
const faults = Number(positionals[0] ?? 100);
const seed = Number(values.seed ?? randomInt(1_000_000));
const load = values.quiet ? "quiet" : "busy";
const logFolder = mkdtempSync(join(tmpdir(), "evmint-faults-"));
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

console.log(`seed ${seed}; logs of nodes, if anything is wrong: ${logFolder}`);
let done = 0;
const report = await runFaults({
  seed,
  faults,
  secondsMax: SECONDS_MAX,
  gapMsMax: GAP_MS_MAX[load],
  logFolder,
  signal: stop.signal,
  onFault({ kind, node, recoveryMs, gapMs }) {
    done++;
    const [recovered, gap] = [recoveryMs, gapMs].map((milliseconds) => (milliseconds / 1_000).toFixed(1));
    console.log(
      `${done} of ${faults}: ${nameOf(node)}: ${kind}; recovered after ${recovered} s, ${gap} s without a block`,
    );
  },
});
printReport(report);
writeResult("network-faults", kindRows(report.faults), { seed, load, faults: done, ...summaryOf(report) });
process.exit(report.failures.length > 0 ? 1 : 0);
