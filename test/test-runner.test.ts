import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { groupsOf, jobsInShare, PROGRAMS, SHARES, shareOf } from "../scripts/test/plan.ts";
import { type Job, type JobResult, runJobs } from "../scripts/test/queue.ts";
import { runFolder } from "../scripts/test/run-folder.ts";
import { lineOf, summaryOf } from "../scripts/test/summary.ts";

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "evmint-runner-"));
after(() => rmSync(folder, { recursive: true }));

function jobOf(name: string, program: string, changes: Partial<Job> = {}): Job {
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, program);
  return {
    pass: "tests",
    name,
    files: [`${name}.test.ts`],
    command: [process.execPath, file],
    isTest: false,
    environment: process.env,
    expectedSeconds: 0,
    timeoutMs: HOUR_MS,
    ...changes,
  };
}

async function run(...groups: readonly (readonly Job[] | Promise<readonly Job[]>)[]): Promise<readonly JobResult[]> {
  const ended: JobResult[] = [];
  const lists = groups.map((group) => Promise.resolve(group));
  const results = await runJobs(lists, { parallel: 1, onEnd: (result) => ended.push(result) });
  assert.deepEqual(results, ended);
  return results;
}

test("runJobs starts the longest job first, and waits for lists of jobs that come later", async () => {
  const early = [jobOf("short", "", { expectedSeconds: 1 }), jobOf("long", "", { expectedSeconds: 9 })];
  let add = (_: readonly Job[]) => {};
  const later = new Promise<readonly Job[]>((resolve) => {
    add = resolve;
  });
  const running = run(early, later);
  setImmediate(() => add([jobOf("late", "")]));
  const names = (await running).map(({ job }) => job.name);
  assert.deepEqual(names, ["long", "short", "late"]);
});

test("runJobs fails a process that exits with an error, hangs, or runs no test", async () => {
  const results = await run([
    jobOf("fine", "console.log('out'); console.error('err');"),
    jobOf("exits", "process.exitCode = 3;"),
    jobOf("dies", "process.kill(process.pid, 'SIGKILL');"),
    jobOf("hangs", "setInterval(() => {}, 1_000_000);", { timeoutMs: 1 }),
    jobOf("empty", "", { isTest: true }),
  ]);
  assert.deepEqual(Object.fromEntries(results.map(({ job, failure }) => [job.name, failure])), {
    fine: undefined,
    exits: "ended with code 3",
    dies: "ended with SIGKILL",
    hangs: "did not end within 0.001 s",
    empty: "ran no test",
  });
  assert.equal(results[0]!.output.split("\n").sort().join(" ").trim(), "err out");
});

const TESTS = `
import { describe, test } from "node:test";
describe("suite", () => { test("passes", () => {}); test("fails", () => { throw new Error("why"); }); });
test.skip("skipped", () => {});
test.todo("to do", () => { throw new Error("not yet"); });
`;

test("summaryOf counts tests and not suites, and a process that failed without a failed test as one", async () => {
  const results = await run([jobOf("some", TESTS, { isTest: true }), jobOf("broken", "process.exitCode = 1;")]);
  const lines = summaryOf(results, 1.5).split("\n");
  assert.match(lines[0]!, /^tests: 4 tests, 2 processes, /);
  assert.deepEqual(lines.slice(1), [
    "✖ some (tests): ended with code 1",
    "    fails",
    "✖ broken (tests): ended with code 1",
    "ℹ tests 4",
    "ℹ pass 1",
    "ℹ fail 2",
    "ℹ skipped 1",
    "ℹ todo 1",
    "ℹ duration_ms 1500",
  ]);
});

test("lineOf shows what failed and the command that repeats it", async () => {
  const environment = { PATH: process.env["PATH"], TEST_SEED: "7" };
  const changes = { isTest: true, environment, version: "22", pass: "Node.js 22" };
  const [result] = await run([jobOf("some", TESTS, changes)]);
  const line = lineOf(result!);
  assert.match(line, /^✖ +[\d.]+ s {2}some \(4 tests, Node\.js 22\): ended with code 1\n✖ failing tests:\n/);
  assert.match(line, /Error: why/);
  assert.ok(line.endsWith("\nagain: TEST_SEED=7 npm test -- --node 22 some.test.ts\n"), line);
});

test("groupsOf gives a room of src/ and some files of test/e2e one process, and each other file of test/ its own", () => {
  const rooms = ["src/evm/machine/a.test.ts", "src/evm/machine/gas/b.test.ts", "src/rpc/c.test.ts"];
  const sharing = Array.from({ length: 7 }, (_, i) => `test/e2e/d${i}.test.ts`);
  const alone = ["test/e2e/limits/e.test.ts", "test/e2e/process-end.test.ts", "test/docs/f.test.ts"];
  const even = sharing.filter((_, i) => i % 2 === 0);
  assert.deepEqual(groupsOf([...rooms, ...sharing, ...alone]), [
    { name: "src/evm/machine", files: rooms.slice(0, 2) },
    { name: "src/rpc", files: [rooms[2]] },
    { name: "test/e2e, part 1 of 2", files: even },
    { name: "test/e2e, part 2 of 2", files: sharing.filter((file) => !even.includes(file)) },
    ...alone.map((file) => ({ name: file, files: [file] })),
  ]);
  assert.deepEqual(groupsOf([sharing[0]!]), [{ name: sharing[0], files: [sharing[0]] }]);
});

test("jobsInShare gives each job to one of even shares, and what each change runs to all", () => {
  const always = { name: "test/crash/crash.test.ts", files: [] };
  const others = Array.from({ length: 10 }, (_, i) => ({ name: `test/docs/${i}.test.ts`, files: [] }));
  const secondsOf = ({ name }: { readonly name: string }) => Number(/\d/.exec(name)?.[0] ?? 99);
  const shares = Array.from({ length: SHARES }, (_, share) => jobsInShare([...others, always], share, secondsOf));
  for (const share of shares) assert.equal(share[0], always);
  assert.deepEqual(
    shares.map((share) => share.slice(1).map(secondsOf)),
    [
      [9, 6, 3, 0],
      [8, 5, 2],
      [7, 4, 1],
    ],
  );
  const commits = Array.from({ length: SHARES }, (_, i) => shareOf(`0000000${i}ff`));
  assert.deepEqual(commits.sort(), [...shares.keys()]);
});

test("PROGRAMS are files of this checkout", () => {
  assert.deepEqual(
    PROGRAMS.filter((file) => !existsSync(new URL(`../${file}`, import.meta.url))),
    [],
  );
});

test("runFolder goes with its process, leaves those of others, and removes what killed ones left", () => {
  const parent = join(folder, "cache");
  const { pid: dead } = spawnSync(process.execPath, ["--version"]);
  for (const name of [`tests-${dead}`, `tests-${process.ppid}`, "other"])
    mkdirSync(join(parent, name), { recursive: true });
  const listeners = process.listeners("exit");
  const own = runFolder(parent);
  mkdirSync(own);
  assert.deepEqual(readdirSync(parent).sort(), ["other", `tests-${process.ppid}`, `tests-${process.pid}`].sort());
  const [onExit] = process.listeners("exit").filter((each) => !listeners.includes(each));
  onExit!(0);
  assert.equal(existsSync(own), false);
});
