/**
 * `npm run test:nightly [-- --minutes 240] [--only seeds,mutants]`: what finds faults and takes longer than a change can wait for. Everything is drawn from one seed,
 * which is the day's number unless `--seed` gives another, and a failure prints the command that repeats it. The report is `docs/nightly.md`; with `--only` the rows of
 * the other parts stay as they are.
 *
 * `--minutes` is the time of the parts that could go on for ever; the others take some 70 minutes on two cores.
 */
import { spawn, spawnSync } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { testFiles } from "./test/plan.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
const REPORT = join(root, "docs/nightly.md");
const LOGS = join(root, ".cache/nightly");
/** Of a part's output, which ends with its figures. */
const FIGURE =
  /^(?:ℹ (?:tests|pass|fail|skipped) \d+|.*\b(?:seeds green|mutants caught|differences? in|kills?\b.*\bloss|passed, \d+ failed)\b.*|(?:acknowledged|lost) +\d+)$/;
const FIGURES_MAX = 6;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "240" },
    seed: { type: "string", default: String(Math.floor(Date.now() / 86_400_000)) },
    only: { type: "string" },
  },
});
const minutes = Number(values.minutes);
const parallel = String(availableParallelism());
/** Seeds of one night do not meet those of the next. */
const first = String(Number(values.seed) * 100_000);
const script = (file: string, ...args: readonly string[]) => [process.execPath, "--import", "tsx", file, ...args];
const npm = (...args: readonly string[]) => ["npm", ...args];

/** Draw from TEST_SEED, and repeat what FUZZ_RUNS says. */
function propertyFiles(): string[] {
  return testFiles(root).filter((file) =>
    /fast-check\.ts"|"(?:FUZZ_RUNS|TEST_SEED)"/.test(readFileSync(join(root, file), "utf8")),
  );
}

/** The share of `--minutes` in seconds. */
const share = (part: number) => String(Math.round(part * minutes * 60));

type Part = {
  readonly name: string;
  /** What it finds that continuous integration does not look for. */
  readonly finds: string;
  readonly command: readonly string[];
  readonly environment?: NodeJS.ProcessEnv;
  /** Left out, and said so, where the program is not on PATH. */
  readonly needs?: string;
};

const PARTS: readonly Part[] = [
  {
    name: "versions",
    finds:
      "every test on every version of Node.js, in place of those that depend on the engine; every page in four windows, in place of two, with axe on each; damage to each kind of page of a large index; a failure of each commit of the index, in place of each fifth; limits of HTTP and WebSocket over RPC processes",
    command: npm("test", "--", "--all", "--every"),
  },
  {
    name: "properties",
    finds: "counterexamples of properties from another seed, with more runs",
    command: npm("test", "--", ...propertyFiles()),
    environment: { TEST_SEED: values.seed, FUZZ_RUNS: "2000", TEST_EVERY: "1" },
  },
  {
    name: "seeds",
    finds: "simulated networks that violate a check",
    command: script("scripts/simulate.ts", "--seed", first, "--seconds", share(0.4), "--parallel", parallel),
  },
  {
    name: "mutants",
    finds: "deliberate faults that the simulator no longer catches; two of them run with every change",
    command: script("scripts/simulate.ts", "--mutants", "all", "--parallel", parallel),
  },
  {
    name: "fuzz-evm",
    finds: "programs on which the EVM differs from another one",
    command: script("test/fuzz/evm.ts", "--seed", first, "--count", String(minutes * 250)),
  },
  {
    name: "fuzz-transactions",
    finds: "transactions whose rules differ from another implementation's",
    command: script("test/fuzz/transactions.ts", "--seed", first, "--count", String(minutes * 250)),
  },
  {
    name: "fuzz-parallel",
    finds: "blocks that differ when they are applied from recorded executions",
    command: script("test/fuzz/parallel.ts", "--seed", first, "--count", String(minutes * 10)),
  },
  {
    name: "storm",
    finds: "anything acknowledged that a kill loses",
    command: script(
      "test/storm/run.ts",
      "1000000",
      "--part",
      String(minutes * 2),
      "--engine",
      "solo",
      "--parallel",
      parallel,
    ),
  },
  {
    name: "storm-network",
    finds: "networks of real nodes that a fault stops or splits",
    command: script("test/network/faults/run.ts", String(Math.ceil(minutes / 4))),
    needs: "cometbft",
  },
  {
    name: "networks",
    finds: "everything else about networks with the real CometBFT",
    command: script("scripts/test.ts", "test/network"),
    environment: { TEST_COMETBFT: "1" },
    needs: "cometbft",
  },
  {
    name: "geth",
    finds: "answers that differ from geth's",
    command: script("scripts/conformance.ts", "geth", "--fuzz", String(minutes * 10)),
    needs: "geth",
  },
];

type Outcome = {
  readonly part: Part;
  readonly result: string;
  readonly minutes: number;
  readonly figures: readonly string[];
};

const only = values.only?.split(",");
const unknown = only?.find((name) => PARTS.every((part) => part.name !== name));
if (unknown !== undefined) {
  console.error(`--only takes ${PARTS.map(({ name }) => name).join(", ")}, not ${unknown}`);
  process.exit(2);
}
mkdirSync(LOGS, { recursive: true });
const outcomes: Outcome[] = [];
for (const part of PARTS.filter(({ name }) => only === undefined || only.includes(name))) {
  const outcome = await run(part);
  console.log(`${part.name}: ${outcome.result} after ${outcome.minutes.toFixed(1)} min\n${outcome.figures.join("\n")}`);
  outcomes.push(outcome);
  // Here, so that a run that is stopped keeps what it has.
  writeFileSync(REPORT, reportOf(outcomes));
}
process.exitCode = outcomes.some(({ result }) => result === "failed") ? 1 : 0;

async function run(part: Part): Promise<Outcome> {
  if (part.needs !== undefined && spawnSync("which", [part.needs]).status !== 0) {
    return { part, result: `left out: ${part.needs} is not on PATH`, minutes: 0, figures: [] };
  }
  const log = join(LOGS, `${part.name}.log`);
  const started = performance.now();
  const [program, ...args] = part.command;
  const output = createWriteStream(log);
  const child = spawn(program!, args, { cwd: root, env: { ...process.env, ...part.environment, TMPDIR: tmpdir() } });
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  const code = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
  await new Promise<void>((resolve) => output.end(resolve));
  const figures = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => FIGURE.test(line))
    .slice(-FIGURES_MAX);
  if (code !== 0) {
    const environment = Object.entries(part.environment ?? {}).map(([name, value]) => `${name}=${value} `);
    console.error(`${part.name} failed; its output is ${log}\nagain: ${environment.join("")}${part.command.join(" ")}`);
  }
  return {
    part,
    result: code === 0 ? "passed" : "failed",
    minutes: (performance.now() - started) / 60_000,
    figures,
  };
}

function reportOf(ran: readonly Outcome[]): string {
  const commit = spawnSync("git", ["rev-parse", "--short", "HEAD"], { cwd: root, encoding: "utf8" }).stdout.trim();
  const last = readFileSync(REPORT, "utf8").split("\n");
  const rows = PARTS.map(({ name, finds }) => {
    const outcome = ran.find(({ part }) => part.name === name);
    if (outcome === undefined) {
      return last.find((line) => line.startsWith(`| ${name} | `)) ?? `| ${name} | ${finds} | has not run | | | |`;
    }
    const { result, minutes: took, figures } = outcome;
    const text = figures.map((line) => line.replace(/^ℹ /, "").replaceAll("|", "\\|")).join(", ");
    return `| ${name} | ${finds} | ${result} | ${commit}, \`--seed ${values.seed} --minutes ${values.minutes}\` | ${took.toFixed(0)} | ${text} |`;
  });
  return `# The nightly run

\`npm run test:nightly\` runs searches for faults that take too long for each change, and writes this page. \`scripts/nightly.ts\` lists its parts; \`--only\` selects some of them.
Every change runs a small part of them, with the same code:

| search | with a change | at night |
|---|---|---|
| fixed seeds of the simulation | 5 | 18, and new ones |
| deliberate faults | 2 | all |
| networks of which a seed does the same again | 2 | 3 |
| kills of a store with LMDB, without it, with retention | 17, 7, 7 | 29, 16, 12 |
| kills of a node, for each of three kinds | 5 | 10, and a storm |
| recorded answers of geth | each sixth | all |
| cases of a property | two fifths | all; of some 2,000 |
| failures of a commit of the index | each fifth; each seventh if rows of blocks wait | each |
| power cuts in a range of blocks; damage to the files of an index | 15; 24 | 45; 60 |
| a rollback while a call reads the block | after one, two or five turns of the event loop | after each of them |
| pages of the documentation | the first of each part of the menu, one of methods and one decision, in one window of two | all, in four windows |
| pages of the explorer | all in two windows; axe on every second page, in one of them | all, with axe, in four windows |
| blocks that a browser tab stores | 200 | 1,000 |
| long tests | kills of a node, the storm, seeds, blocks and answers of geth; of all others a third | all |
| the newest version of Node.js | a third of what depends on the engine, without four long files | all, as on each version between |
| RPC processes | a third, without the limits of HTTP and WebSocket | all |

The hash of a commit says which third it runs, so a second run has the same files, and other commits have others. \`npm test -- --long\` runs all long tests.

The windows are desktop and phone, light and dark; a change has a light desktop and a dark phone. \`NIGHTLY\` in \`scripts/test/plan.ts\` lists the tests that only this run has: damaged pages of a large index,
haproxy, examples of slow methods, followers over minutes, contracts recompiled in the browser, screenshots, faulty nodes that the storm must detect, and the setup of a clone, which each run of
continuous integration begins with.

The last run had Node.js ${process.versions.node} and ${availableParallelism()} cores.

| part | finds | result | run | minutes | figures |
|---|---|---|---|---:|---|
${rows.join("\n")}
`;
}
