/**
 * Kills real nodes until the results file has TOTAL kills: `npm run storm -- [TOTAL] [--part N] [--parallel N] [--quiet] [--results FILE]`.
 *
 * `--part` ends this run after so many kills; SIGINT or SIGTERM after the kill that it is at. `--quiet` says that the machine does nothing else.
 * `--seed N --engine solo|cometbft|network` runs one home again, as a failure prints it, and counts nothing; `--engine` alone runs that one only.
 * `--speculation-threads N` has homes under the solo engine alone, with N threads that execute the next block ahead.
 * `--add FILE` adds the results of another run and kills nothing. docs/storm.md
 */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { isLoss, StormFailure } from "./failure.ts";
import type { StormEngine } from "./home-settings.ts";
import { addResults, count, countTime, engineResults, readResults, summary, writeResults } from "./results.ts";
import type { KillResult, Storm, StormOptions } from "./storm.ts";
import { StormHome } from "./storm-home.ts";
import { StormNetwork } from "./storm-network.ts";

const RESULTS = fileURLToPath(new URL("results.json", import.meta.url));
/** A chain of some thousand blocks, and settings drawn anew after it. */
const KILLS_PER_HOME = 50;
/** A run ends with so many failures: their homes stay on the disk. */
const FAILURES_MAX = 5;
/** Shares of the engines, in percent; a kill of CometBFT takes several times as long. */
const SHARES: readonly (readonly [StormEngine, number])[] = [
  ["network", 5],
  ["cometbft", 10],
  ["solo", 85],
];
/** Homes side by side have ports from here on, `PORT_STEP` apart. */
const FIRST_PORT = 31_000;
const PORT_STEP = 200;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    part: { type: "string" },
    seed: { type: "string" },
    engine: { type: "string" },
    parallel: { type: "string", default: "1" },
    quiet: { type: "boolean", default: false },
    results: { type: "string", default: RESULTS },
    add: { type: "string" },
    "speculation-threads": { type: "string", default: "0" },
  },
});
const total = Number(positionals[0] ?? 500);
const results = readResults(values.results);
const commit = currentCommit();
const speculationThreads = Number(values["speculation-threads"]);
const load = values.quiet ? "quiet" : "busy";
const isRepeat = values.seed !== undefined;
let left = isRepeat ? total : Math.min(total - results.kills, Number(values.part ?? total));
let failures = 0;
/** Engines of the homes that run. */
const running: StormEngine[] = [];
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

if (values.add !== undefined) {
  addResults(results, readResults(values.add));
  writeResults(values.results, results);
} else if (left <= 0) console.log(`nothing to do: ${results.kills} kills of ${total}`);
else await Promise.all(Array.from({ length: Number(values.parallel) }, (_, slot) => runHomes(slot)));
console.log(summary(results));
process.exit(failures > 0 ? 1 : 0);

async function runHomes(slot: number): Promise<void> {
  while (left > 0 && failures < FAILURES_MAX && !stop.signal.aborted) {
    const kills = Math.min(left, KILLS_PER_HOME);
    left -= kills;
    const given = speculationThreads > 0 ? "solo" : (values.engine as StormEngine | undefined);
    const engine = given ?? nextEngine();
    running.push(engine);
    await runHome({
      kills,
      engine,
      seed: isRepeat ? Number(values.seed) : randomInt(2 ** 31),
      firstPort: FIRST_PORT + PORT_STEP * slot,
    });
    running.splice(running.indexOf(engine), 1);
    if (!isRepeat) writeResults(values.results, results);
  }
}

async function runHome(options: HomeOptions): Promise<void> {
  const { engine, seed, kills } = options;
  const directory = mkdtempSync(join(tmpdir(), "evmint-storm-"));
  const totals = engineResults(results, engine);
  let done = 0;
  const begin = performance.now();
  const onKill = ({ kind, nodes, step, restartMs, blockMs }: KillResult) => {
    done += nodes;
    results.kills += nodes;
    totals.kills += nodes;
    count(totals.byKind, engine === "network" ? `${kind} of ${nodes}` : kind);
    if (step !== undefined) count(totals.byStep, step);
    count(results.byCommit, commit, nodes);
    countTime(totals.restartMs[load], restartMs);
    countTime(totals.blockMs[load], blockMs);
  };
  try {
    const storm = stormOf(engine, { ...options, directory, onKill, signal: stop.signal });
    const report = await storm.run();
    if (storm instanceof StormHome && storm.settings.speculationThreads > 0) {
      totals.speculation ??= { kills: 0, byRpcProcesses: {}, outcomes: {} };
      totals.speculation.kills += done;
      count(totals.speculation.byRpcProcesses, String(storm.settings.rpcProcesses), done);
      for (const [outcome, each] of Object.entries(report.speculated)) {
        count(totals.speculation.outcomes, outcome, each);
      }
    }
    totals.homes++;
    for (const name of ["blocks", "transactionsAnswered", "blocksSeen", "receiptsSeen", "leftovers"] as const) {
      totals[name] += report[name];
    }
    rmSync(directory, { recursive: true });
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    const { applied } = report.speculated;
    const ahead = speculationThreads > 0 ? `, ${applied ?? 0} transactions executed ahead` : "";
    console.log(
      `${engine} seed ${seed}: ${done} kills, ${report.blocks} blocks${ahead} in ${seconds} s; ${results.kills} in all`,
    );
  } catch (error) {
    failures++;
    if (!(error instanceof StormFailure)) stop.abort();
    else {
      results.failed++;
      if (isLoss(error.code)) results.lost++;
      results.failures.push(
        `${commit} ${engine} seed ${seed} kill ${done + 1} (${JSON.stringify(error.plan)}): ${error.message}`,
      );
    }
    console.error(error);
    console.error(`kill ${done + 1}: ${error instanceof StormFailure ? JSON.stringify(error.plan) : ""}`);
    console.error(`home and log: ${directory}`);
    const threads = speculationThreads > 0 ? ` --speculation-threads ${speculationThreads}` : "";
    console.error(`again: npm run storm -- ${kills} --engine ${engine} --seed ${seed}${threads}`);
  }
}

type HomeOptions = Pick<StormOptions, "kills" | "seed" | "firstPort"> & { readonly engine: StormEngine };

function stormOf(engine: StormEngine, options: StormOptions): Storm {
  return engine === "network" ? new StormNetwork(options) : new StormHome({ ...options, engine, speculationThreads });
}

/** The engine that is furthest behind its share. */
function nextEngine(): StormEngine {
  const lag = ([engine, share]: readonly [StormEngine, number]) =>
    (results.kills * share) / 100 - (results.engines[engine]?.kills ?? 0);
  // A network has eight processes: two side by side would measure how the machine shares its cores.
  const possible = SHARES.filter(([engine]) => engine !== "network" || !running.includes(engine));
  return possible.reduce((best, each) => (lag(each) > lag(best) ? each : best))[0];
}

/** With a plus where files differ from it. */
function currentCommit(): string {
  const git = (...args: readonly string[]) => spawnSync("git", args, { encoding: "utf8" }).stdout.trim();
  const changes = git("status", "--porcelain", "--", "src", "test", "bin");
  return `${git("rev-parse", "--short", "HEAD")}${changes.split("\n").every((line) => line === "" || line.endsWith("results.json")) ? "" : "+"}`;
}
