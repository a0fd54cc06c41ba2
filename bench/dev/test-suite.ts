import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inTurn, median } from "../support/load.ts";
import { type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const TESTS = 200;
const ROUNDS_DEFAULT = 3;
/** Fields 15 and 16 of /proc/self/stat count in these on Linux. */
const TICKS_PER_SECOND = 100;
const SUITE = new URL("./suite.mjs", import.meta.url).href;

/** vitest and Hardhat 3 are no dependencies: these name folders where they are installed (CONTRIBUTING.md). */
const { VITEST_DIR, HARDHAT_DIR } = process.env;

/**
 * Time of a suite of 200 contract tests, from the start of its runner to the end: against our node in the runner's process, ours and
 * anvil over HTTP, which run already, Hardhat 3 in the runner's process, and recorded answers in place of a node. By vitest, else by node:test. CPU time is that of the runner
 * and of the node.
 *
 * With `--calls` it takes the suite apart instead: calls by method, and for the first ones and the rest the latency and the CPU time of
 * the node, ours beside anvil.
 * @param args rounds, of which each figure is the median
 */
export async function run(args: readonly string[]): Promise<void> {
  const rounds = Number(args.find((arg) => !arg.startsWith("--")) ?? ROUNDS_DEFAULT);
  const project = makeProject();
  if (args.includes("--calls")) {
    await compareCalls(project, rounds).finally(() => rmSync(project, { recursive: true, force: true }));
    return;
  }
  const measured: ({ readonly node: string } & Cost)[] = [];
  try {
    const nodes = targets(project);
    for (let round = 0; round < rounds; round++) {
      for (const [node, runOnce] of inTurn(nodes, round)) {
        const cost = await runOnce();
        if (cost !== undefined) measured.push({ node, ...cost });
        else if (round === 0) console.log(`${node}: left out, not installed`);
      }
    }
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
  const of = (node: string, key: keyof Cost) =>
    median(measured.filter((each) => each.node === node).map((each) => each[key]));
  const rows = [...new Set(measured.map(({ node }) => node))].map((node) => ({
    node,
    "wall s": of(node, "wallSeconds"),
    "CPU s": of(node, "cpuSeconds"),
    "CPU s beyond recorded answers": of(node, "cpuSeconds") - of(FLOOR, "cpuSeconds"),
    "wall against ours in process": of(node, "wallSeconds") / of(IN_PROCESS, "wallSeconds"),
    "CPU against ours in process": of(node, "cpuSeconds") / of(IN_PROCESS, "cpuSeconds"),
  }));
  const summary = { tests: TESTS, runner: VITEST_DIR ? "vitest" : "node:test", rounds };
  printTable(rows);
  writeResult("test-suite", rows, summary);
}

const IN_PROCESS = "evmint in process";
/** What every row has in it: runner, client and assertions. */
const FLOOR = "recorded answers, no node";

type Cost = { readonly wallSeconds: number; readonly cpuSeconds: number };

type RunOnce = () => Promise<Cost | undefined>;

function targets(project: string): readonly (readonly [name: string, run: RunOnce])[] {
  const overHttp = (start: () => Promise<Peer | undefined>) => async () => {
    const peer = await start();
    try {
      if (peer === undefined) return undefined;
      const before = peer.cpuSeconds();
      const cost = runSuite(project, { SUITE_TARGET: `http://127.0.0.1:${peer.port}` });
      return { ...cost, cpuSeconds: cost.cpuSeconds + peer.cpuSeconds() - before };
    } finally {
      await peer?.stop();
    }
  };
  const answers = { SUITE_ANSWERS: join(project, "answers.json") };
  runSuite(project, { SUITE_TARGET: "record", ...answers });
  const hardhat = HARDHAT_DIR && join(HARDHAT_DIR, "node_modules/hardhat/dist/src/hre.js");
  return [
    [IN_PROCESS, async () => runSuite(project, { SUITE_TARGET: "evmint" })],
    [FLOOR, async () => runSuite(project, { SUITE_TARGET: "replay", ...answers })],
    ...Object.entries(OVER_HTTP).map(([node, start]) => [`${node} over HTTP`, overHttp(start)] as const),
    [
      "Hardhat 3 in process",
      async () =>
        hardhat && existsSync(hardhat)
          ? runSuite(project, {
              SUITE_TARGET: "hardhat",
              SUITE_HARDHAT: pathToFileURL(hardhat).href,
            })
          : undefined,
    ],
  ];
}

/** Calls of a method until it counts as warm: by then V8 has compiled its functions to bytecode, and optimised few of them. */
const COLD_CALLS = 20;

/** A call as `targets.mjs` times it. */
type TimedCall = {
  readonly method: string;
  readonly ms: number;
  readonly cpuMs: number;
  /** CPU time of the node from the answer to the next call. */
  readonly cpuAfterMs: number;
  /** From the answer before to this call. */
  readonly clientMs: number;
};

const OVER_HTTP: Readonly<Record<string, () => Promise<Peer | undefined>>> = {
  evmint: () => startEvmint(),
  "evmint in memory": () => startEvmint({ extraArguments: ["--in-memory"] }),
  anvil: () => startAnvil(),
};

async function compareCalls(project: string, rounds: number): Promise<void> {
  const file = join(project, "calls.json");
  const suites: { readonly node: string; readonly calls: readonly TimedCall[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    for (const [node, start] of Object.entries(OVER_HTTP)) {
      const peer = await start();
      if (peer === undefined) continue;
      try {
        const url = `http://127.0.0.1:${peer.port}`;
        runSuite(project, { SUITE_TARGET: url, SUITE_CALLS: file, SUITE_PID: String(peer.pid) });
        suites.push({ node, calls: JSON.parse(readFileSync(file, "utf8")) as TimedCall[] });
      } finally {
        await peer.stop();
      }
    }
  }
  const rows = [...new Set(suites.map(({ node }) => node))].flatMap((node) => {
    const own = suites.filter((suite) => suite.node === node).map(({ calls }) => calls);
    const methods = [...new Set(own[0]!.map(({ method }) => method))].sort();
    return [...methods, undefined].map((method) => callRow(node, method, own));
  });
  printTable(rows);
  writeResult("test-suite-calls", rows, { tests: TESTS, rounds, coldCalls: COLD_CALLS });
}

/** @param method absent: all calls */
function callRow(node: string, method: string | undefined, suites: readonly (readonly TimedCall[])[]) {
  const own = suites.map((calls) => calls.filter((call) => method === undefined || call.method === method));
  const of = (key: keyof Omit<TimedCall, "method">, part: (calls: readonly TimedCall[]) => readonly TimedCall[]) => {
    const values = own.flatMap((calls) => part(calls).map((call) => call[key]));
    return values.length === 0 ? "-" : median(values);
  };
  const cold = (calls: readonly TimedCall[]) => calls.slice(0, COLD_CALLS);
  const warm = (calls: readonly TimedCall[]) => calls.slice(COLD_CALLS);
  const total = (key: keyof Omit<TimedCall, "method">) =>
    median(own.map((calls) => calls.reduce((sum, call) => sum + call[key], 0)));
  return {
    node,
    method: method ?? "all",
    calls: own[0]!.length,
    "cold ms p50": of("ms", cold),
    "warm ms p50": of("ms", warm),
    "warm CPU ms p50": of("cpuMs", warm),
    "all ms": total("ms"),
    "all CPU ms": total("cpuMs"),
    "CPU ms after answers": total("cpuAfterMs"),
    "client ms between calls": total("clientMs"),
  };
}

/** A folder with the suite as a test file of the runner. */
function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), "evmint-suite-"));
  const [module, before, after] = VITEST_DIR ? ["vitest", "beforeAll", "afterAll"] : ["node:test", "before", "after"];
  writeFileSync(
    join(project, "suite.test.mjs"),
    `import { ${before}, ${after}, beforeEach, test } from "${module}";
     import { defineSuite } from ${JSON.stringify(fileURLToPath(SUITE))};
     defineSuite({ test, beforeEach, before: ${before}, after: ${after} }, ${TESTS});`,
  );
  writeFileSync(join(project, "package.json"), '{"type":"module"}');
  // Hardhat looks for a project where it runs.
  writeFileSync(join(project, "hardhat.config.js"), "export default {};");
  if (VITEST_DIR) symlinkSync(join(VITEST_DIR, "node_modules"), join(project, "node_modules"));
  else mkdirSync(join(project, "node_modules"));
  return project;
}

/** What the runner takes. @throws when a test failed */
function runSuite(project: string, env: Readonly<Record<string, string>>): Cost {
  const newer = HARDHAT_DIR ? join(HARDHAT_DIR, "node_modules/node/bin/node") : "";
  const program = existsSync(newer) ? newer : process.execPath;
  const args = VITEST_DIR
    ? [join(VITEST_DIR, "node_modules/vitest/vitest.mjs"), "run", "--reporter=dot"]
    : ["--test", "suite.test.mjs"];
  const [begin, cpuBefore] = [performance.now(), childrenCpuSeconds()];
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: project,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "", ...env },
  });
  const wallSeconds = (performance.now() - begin) / 1000;
  if (status !== 0) throw new Error(`the suite failed:\n${stdout.slice(-4000)}\n${stderr}`);
  return { wallSeconds, cpuSeconds: childrenCpuSeconds() - cpuBefore };
}

/** CPU time of all processes that this one started and that have ended. */
function childrenCpuSeconds(): number {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
}
