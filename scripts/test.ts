/**
 * Runs the tests: every `*.test.ts` under src/ and test/ but those of LONG, or those whose path contains an argument. With `--long` those of LONG, and
 * some of the others over connections that RPC processes serve. They are compiled together first (`bundle-tests.mjs`).
 * `node --test` takes globs only from Node 21 and exits 0 on zero tests; this script lists the files itself and fails on none.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleTests } from "./bundle-tests.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** A file that hangs fails instead of holding up all others. */
const FILE_TIMEOUT_MS = 600_000;

/** Kill processes again and again, drive a browser where there is one, or do one thing for longer than ten seconds. */
const LONG = [
  "src/chain/store/failed-commits.test.ts",
  "src/dev/fork/poisoned-answers.test.ts",
  "src/les/checkpoints/checkpoint-indexer.test.ts",
  "test/browser/",
  "test/conformance/precompiles.test.ts",
  "test/crash/",
  "test/differential/",
  "test/docs/examples",
  "test/docs/walk.test.ts",
  "test/e2e/compiled-contracts.test.ts",
  "test/e2e/dev-control-model.test.ts",
  "test/e2e/dev-fork",
  "test/e2e/geth-import.test.ts",
  "test/e2e/limits/followers-soak.test.ts",
  "test/e2e/same-answers.test.ts",
  "test/e2e/shh/nodes.test.ts",
  "test/explorer/developer.test.ts",
  "test/explorer/lies.test.ts",
  "test/explorer/recompile.test.ts",
  "test/explorer/screenshots.test.ts",
  "test/explorer/walk.test.ts",
  "test/explorer/wallet.test.ts",
  "test/security/account-permissions.test.ts",
  "test/security/poisoned-snapshots.test.ts",
  "test/simulation/cometbft/agreement.test.ts",
  "test/simulation/determinism.test.ts",
  "test/simulation/mutants/mutants.test.ts",
  "test/simulation/seeds.test.ts",
  "test/storm/",
];

/** The longest of the others, which begin first: no core idles while the last file runs. */
const FIRST = [
  "src/chain/store/",
  "src/crypto/kzg/kzg.test.ts",
  "test/e2e/limits/",
  "test/e2e/les/serving.test.ts",
  "test/e2e/rpc-processes.test.ts",
];

/** With `--long` run over connections that two RPC processes serve (ADR 53). */
const OVER_PROCESSES = [
  "test/e2e/acceptance.test.ts",
  "test/e2e/events.test.ts",
  "test/e2e/limits/http-limits.test.ts",
  "test/e2e/limits/memory-budgets.test.ts",
  "test/e2e/limits/request-limits.test.ts",
  "test/e2e/limits/ws-limits.test.ts",
  "test/e2e/resend.test.ts",
  "test/e2e/retention.test.ts",
  "test/e2e/trace-methods.test.ts",
  "test/e2e/viem.test.ts",
  "test/e2e/web3-subscriptions.test.ts",
  "test/security/tokens.test.ts",
];

const args = process.argv.slice(2);
const isLong = args.includes("--long");
const filters = args.filter((arg) => arg !== "--long");
const isLongFile = (file: string) => LONG.some((path) => file.startsWith(path));

const isFirst = (file: string) => FIRST.some((path) => file.startsWith(path));

// Those under test/ take longer than those under src/.
const files = ["test", "src"]
  .filter((dir) => existsSync(join(root, dir)))
  .flatMap((dir) => testFiles(join(root, dir)).sort())
  .map((file) => relative(root, file))
  .filter((file) =>
    filters.length === 0
      ? isLongFile(file) === isLong || (isLong && OVER_PROCESSES.includes(file))
      : filters.some((filter) => file.includes(filter)),
  )
  .sort((a, b) => Number(isFirst(b)) - Number(isFirst(a)));
if (files.length === 0) {
  console.error(`no test file${filters.length ? ` matches ${filters.join(" ")}` : ""}`);
  process.exit(1);
}
const compiled = await bundleTests(root, files);
const compiledOf = (file: string) => compiled[files.indexOf(file)]!;
const paths =
  isLong && filters.length === 0
    ? [...files.filter(isLongFile).map(compiledOf), ...OVER_PROCESSES.map((file) => overProcesses(compiledOf(file)))]
    : compiled;
// Networks with the real CometBFT have the same ports. Many other tests wait for a process or a clock.
const concurrency = process.env["EVMINT_COMETBFT"] === "1" ? 1 : availableParallelism() + 1;
const { status } = spawnSync(
  process.execPath,
  [
    // Stacks, in which some tests look for their own file, name the sources.
    "--enable-source-maps",
    "--test",
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${FILE_TIMEOUT_MS}`,
    // Names the failed tests once more at the end, where those look who have only the end of the output.
    "--test-reporter=spec",
    ...paths,
  ],
  { cwd: root, stdio: "inherit" },
);
process.exit(status ?? 1);

/** A file that runs the compiled test at `path` over connections that two RPC processes serve. */
function overProcesses(path: string): string {
  const wrapper = join(dirname(path), `over-processes-${basename(path)}`);
  const lines = ['process.env.EVMINT_TEST_PROCESSES = "2";', `await import("./${basename(path)}");`];
  writeFileSync(wrapper, `${lines.join("\n")}\n`);
  return wrapper;
}

function testFiles(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
