/** What a run prints: a line for each process that ended, failures whole, and a summary for each pass. */
import type { Job, JobResult, TestResult } from "./queue.ts";

const SLOWEST = 10;
/** Of a process's output, where it failed without a failed test. */
const LINES_MAX = 200;
/** What a test depends on beside its file. */
const REPEATED_VARIABLES = ["TEST_SEED", "FUZZ_RUNS", "TEST_EVERY", "TEST_PROCESSES", "TEST_ENGINE", "TEST_COMETBFT"];
/** Where the reporter of `node:test` repeats the failed tests. */
const FAILED_TESTS = /^✖ failing tests:$/m;

/** One line; after it what a failed process printed. */
export function lineOf({ job, seconds, tests, output, failure }: JobResult): string {
  const ran = tests.filter(({ isSuite }) => !isSuite).length;
  const facts = [
    ...(job.isTest ? [`${ran} tests`] : []),
    ...(job.files.length > 1 ? [`${job.files.length} files`] : []),
    ...(job.pass === "tests" ? [] : [job.pass]),
  ];
  const line = `${failure === undefined ? "✔" : "✖"} ${seconds.toFixed(1).padStart(6)} s  ${job.name} (${facts.join(", ")})`;
  if (failure === undefined) return line;
  return `${line}: ${failure}\n${failedPartOf(output)}\nagain: ${againOf(job)}\n`;
}

/** The command that runs a job alone. */
function againOf({ files, command, environment, isTest, version }: Job): string {
  if (!isTest) return command.join(" ");
  const drawn = REPEATED_VARIABLES.filter((name) => environment[name] !== undefined);
  const variables = drawn.map((name) => `${name}=${environment[name]} `);
  const words = version === undefined ? files : ["--node", version, ...files];
  return `${variables.join("")}npm test -- ${words.join(" ")}`;
}

function failedPartOf(output: string): string {
  const at = output.search(FAILED_TESTS);
  if (at !== -1) return output.slice(at);
  return output.split("\n").slice(-LINES_MAX).join("\n");
}

/** One line for each pass with its slowest files, then the failed processes, then the counts of all as the runner of `node:test` prints them. */
export function summaryOf(results: readonly JobResult[], wallSeconds: number): string {
  const passes = [...new Set(results.map(({ job }) => job.pass))].map((pass) =>
    passLine(
      pass,
      results.filter(({ job }) => job.pass === pass),
    ),
  );
  const failed = results.filter(({ failure }) => failure !== undefined);
  const failures = failed.flatMap(({ job, failure, tests }) => [
    `✖ ${job.name} (${job.pass}): ${failure}`,
    ...tests.filter((each) => !each.isSuite && !each.isPassed && !each.isTodo).map(({ name }) => `    ${name}`),
  ]);
  const tests = results.flatMap((result) => result.tests).filter(({ isSuite }) => !isSuite);
  const isFailed = (each: TestResult) => !each.isPassed && !each.isTodo;
  // Processes that failed without a failed test count as one.
  const broken = failed.filter((result) => !result.tests.some((each) => !each.isSuite && isFailed(each))).length;
  const counts = {
    tests: tests.length,
    pass: tests.filter((each) => each.isPassed && !each.isSkipped && !each.isTodo).length,
    fail: tests.filter(isFailed).length + broken,
    skipped: tests.filter(({ isSkipped }) => isSkipped).length,
    todo: tests.filter(({ isTodo }) => isTodo).length,
    duration_ms: Math.round(wallSeconds * 1000),
  };
  const lines = Object.entries(counts).map(([name, count]) => `ℹ ${name} ${count}`);
  return [...passes, ...failures, ...lines].join("\n");
}

function passLine(pass: string, results: readonly JobResult[]): string {
  const seconds = results.reduce((sum, each) => sum + each.seconds, 0);
  const ran = results.flatMap(({ tests }) => tests).filter(({ isSuite }) => !isSuite).length;
  const slowest = results
    .flatMap(secondsByFile)
    .sort(([, a], [, b]) => b - a)
    .slice(0, SLOWEST)
    .map(([file, each]) => `${file} ${each.toFixed(1)}`);
  return `${pass}: ${ran} tests, ${results.length} processes, ${seconds.toFixed(0)} s of processes; slowest: ${slowest.join(", ")}`;
}

/** In a room each file is a suite. */
function secondsByFile({ job, seconds, tests }: JobResult): [file: string, seconds: number][] {
  if (job.files.length < 2) return [[job.name, seconds]];
  return tests.filter(({ nesting }) => nesting === 0).map(({ name, ms }) => [name, ms / 1000]);
}
