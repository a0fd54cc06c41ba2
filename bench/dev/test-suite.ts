import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { median } from "../support/load.ts";
import { type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const TESTS = 200;
const ROUNDS = 3;
const SUITE = new URL("./suite.mjs", import.meta.url).href;

/** vitest and Hardhat 3 are no dependencies: these name folders where they are installed (CONTRIBUTING.md). */
const { VITEST_DIR, HARDHAT_DIR } = process.env;

/**
 * Time of a suite of 200 contract tests, from the start of its runner to the end: against our node in the runner's process, ours and
 * anvil over HTTP, which run already, and Hardhat 3 in the runner's process. By vitest, else by node:test.
 */
export async function run(): Promise<void> {
  const project = makeProject();
  const measured: { readonly node: string; readonly wallMs: number }[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      for (const [node, runOnce] of targets(project)) {
        const wallMs = await runOnce();
        if (wallMs !== undefined) measured.push({ node, wallMs });
        else if (round === 0) console.log(`${node}: left out, not installed`);
      }
    }
  } finally {
    rmSync(project, { recursive: true, force: true });
  }
  const wallOf = (node: string) =>
    median(measured.filter((each) => each.node === node).map(({ wallMs }) => wallMs));
  const ours = wallOf(IN_PROCESS);
  const rows = [...new Set(measured.map(({ node }) => node))].map((node) => ({
    ...{ node, "wall s": wallOf(node) / 1000, "times ours in process": wallOf(node) / ours },
  }));
  const summary = { tests: TESTS, runner: VITEST_DIR ? "vitest" : "node:test", rounds: ROUNDS };
  printTable(rows);
  writeResult("test-suite", rows, summary);
}

const IN_PROCESS = "evmint in process";

type RunOnce = () => Promise<number | undefined>;

function targets(project: string): readonly (readonly [name: string, run: RunOnce])[] {
  const overHttp = (start: () => Promise<Peer | undefined>) => async () => {
    const peer = await start();
    try {
      return peer && runSuite(project, { SUITE_TARGET: `http://127.0.0.1:${peer.port}` });
    } finally {
      await peer?.stop();
    }
  };
  const hardhat = HARDHAT_DIR && join(HARDHAT_DIR, "node_modules/hardhat/dist/src/hre.js");
  return [
    [IN_PROCESS, async () => runSuite(project, { SUITE_TARGET: "evmint" })],
    ["evmint over HTTP", overHttp(startEvmint)],
    [
      "evmint in memory over HTTP",
      overHttp(() => startEvmint({ extraArguments: ["--dev.in-memory"] })),
    ],
    ["anvil over HTTP", overHttp(startAnvil)],
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

/** A folder with the suite as a test file of the runner. */
function makeProject(): string {
  const project = mkdtempSync(join(tmpdir(), "evmint-suite-"));
  const [module, before, after] = VITEST_DIR
    ? ["vitest", "beforeAll", "afterAll"]
    : ["node:test", "before", "after"];
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

/** Milliseconds of the runner. @throws when a test failed */
function runSuite(project: string, env: Readonly<Record<string, string>>): number {
  const newer = HARDHAT_DIR ? join(HARDHAT_DIR, "node_modules/node/bin/node") : "";
  const program = existsSync(newer) ? newer : process.execPath;
  const args = VITEST_DIR
    ? [join(VITEST_DIR, "node_modules/vitest/vitest.mjs"), "run", "--reporter=dot"]
    : ["--test", "suite.test.mjs"];
  const begin = performance.now();
  const { status, stdout, stderr } = spawnSync(program, args, {
    cwd: project,
    encoding: "utf8",
    env: { ...process.env, NODE_OPTIONS: "", ...env },
  });
  const wallMs = performance.now() - begin;
  if (status !== 0) throw new Error(`the suite failed:\n${stdout.slice(-4000)}\n${stderr}`);
  return wallMs;
}
