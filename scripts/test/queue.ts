/** Runs processes, a few at a time, the longest first. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));
const REPORTER = fileURLToPath(new URL("reporter.mjs", import.meta.url));

/**
 * For processes that run a few seconds beside others on all cores: one thread collects garbage, and V8 optimises what is hotter than its default. An eighth less
 * CPU for the same tests. Other versions of Node.js run what depends on the engine, with V8's defaults. V8 of Node.js 22 and later does not know the budget, and an
 * unknown option ends a process.
 */
const SHORT_LIVED = [
  "--single-threaded-gc",
  ...(process.versions.node.startsWith("20.") ? ["--interrupt-budget=300000"] : []),
];

/** One process: a compiled group of test files on a version of Node.js, or a command. */
export type Job = {
  /** Of the summary that it belongs to. */
  readonly pass: string;
  readonly name: string;
  readonly files: readonly string[];
  /** The program, and its arguments; a test's are completed with reporters. */
  readonly command: readonly [program: string, ...args: string[]];
  readonly isTest: boolean;
  /** Of Node.js, where it is not the one that runs the queue. */
  readonly version?: string;
  readonly environment: NodeJS.ProcessEnv;
  /** What it took last time. */
  readonly expectedSeconds: number;
  /** A process that hangs fails in place of holding up all others. */
  readonly timeoutMs: number;
};

/** One test, as `reporter.mjs` writes it. */
export type TestResult = {
  readonly name: string;
  readonly nesting: number;
  readonly isSuite: boolean;
  readonly isPassed: boolean;
  readonly isSkipped: boolean;
  readonly isTodo: boolean;
  readonly ms: number;
};

export type JobResult = {
  readonly job: Job;
  readonly seconds: number;
  readonly tests: readonly TestResult[];
  /** What it printed, both streams in the order of their arrival. */
  readonly output: string;
  /** Undefined where it passed. */
  readonly failure: string | undefined;
};

/**
 * @param groups jobs, each list as soon as it is known
 * @param options.parallel how many run at a time
 */
export async function runJobs(
  groups: readonly Promise<readonly Job[]>[],
  options: { readonly parallel: number; onEnd(result: JobResult): void },
): Promise<JobResult[]> {
  const results: JobResult[] = [];
  const waiting: Job[] = [];
  let unknown = groups.length;
  let wake = () => {};
  const added = groups.map(async (group) => {
    try {
      waiting.push(...(await group));
      waiting.sort((a, b) => b.expectedSeconds - a.expectedSeconds);
    } finally {
      unknown--;
      wake();
    }
  });
  async function work(): Promise<void> {
    for (;;) {
      const job = waiting.shift();
      if (job !== undefined) {
        const result = await run(job);
        results.push(result);
        options.onEnd(result);
      } else if (unknown === 0) return;
      else {
        await new Promise<void>((resolve) => {
          const others = wake;
          wake = () => {
            others();
            resolve();
          };
        });
      }
    }
  }
  const workers = Array.from({ length: options.parallel }, work);
  await Promise.all([...added, ...workers]);
  return results;
}

async function run(job: Job): Promise<JobResult> {
  const folder = mkdtempSync(join(tmpdir(), "evmint-job-"));
  const report = join(folder, "report");
  const nodeArgs = [
    ...(job.version === undefined ? SHORT_LIVED : []),
    // Stacks, in which some tests look for their own file, name the sources.
    "--enable-source-maps",
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${REPORTER}`,
    `--test-reporter-destination=${report}`,
  ];
  const [program, ...args] = job.command;
  const started = performance.now();
  try {
    // What a process leaves in the folder for temporary files goes with its own.
    const environment = { ...job.environment, TMPDIR: folder };
    const { output, end } = await outputOf(program, job.isTest ? [...nodeArgs, ...args] : args, {
      ...job,
      environment,
    });
    const seconds = (performance.now() - started) / 1000;
    const tests = job.isTest ? readReport(report) : [];
    const hasRun = !job.isTest || tests.some(({ isSuite }) => !isSuite);
    return { job, seconds, tests, output, failure: end ?? (hasRun ? undefined : "ran no test") };
  } finally {
    remove(folder);
  }
}

function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    // A process that a killed test left may still write there: no test is red for it.
    console.log(`${folder} stays: ${(error as Error).message}`);
  }
}

function outputOf(
  program: string,
  args: readonly string[],
  { environment, timeoutMs }: Job,
): Promise<{ readonly output: string; readonly end: string | undefined }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: root, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let isLate = false;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    }
    const timer = setTimeout(() => {
      isLate = true;
      child.kill("SIGKILL");
    }, timeoutMs);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (isLate) resolve({ output, end: `did not end within ${timeoutMs / 1000} s` });
      else resolve({ output, end: code === 0 ? undefined : `ended with ${signal ?? `code ${code}`}` });
    });
  });
}

function readReport(file: string): TestResult[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as TestResult);
  } catch {
    // It ended before it began to report, or within a line; its failure says so.
    return [];
  }
}
