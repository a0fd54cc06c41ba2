/**
 * Runs the tests: every `*.test.ts` under src/ and test/, or those whose path contains an argument. They are compiled together first
 * (`bundle-tests.mjs`).
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
const FILE_TIMEOUT_MS = 300_000;

/** Run twice: also over connections that two RPC processes serve (ADR 53), where no argument selects files. */
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
  "test/crash/kill-node.test.ts",
];

const filters = process.argv.slice(2);

// Those under test/ take longest: what begins last should end soon.
const files = ["test", "src"]
  .filter((dir) => existsSync(join(root, dir)))
  .flatMap((dir) => testFiles(join(root, dir)).sort())
  .map((file) => relative(root, file))
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)));
if (files.length === 0) {
  console.error(`no test file${filters.length ? ` matches ${filters.join(" ")}` : ""}`);
  process.exit(1);
}
const compiled = await bundleTests(root, files);
const again = filters.length === 0 ? OVER_PROCESSES.map(overProcesses) : [];
const { status } = spawnSync(
  process.execPath,
  [
    // Stacks, in which some tests look for their own file, name the sources.
    "--enable-source-maps",
    "--test",
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    `--test-timeout=${FILE_TIMEOUT_MS}`,
    ...again,
    ...compiled,
  ],
  { cwd: root, stdio: "inherit" },
);
process.exit(status ?? 1);

/** A file that runs the compiled test `file` over connections that two RPC processes serve. */
function overProcesses(file: string): string {
  const test = compiled[files.indexOf(file)]!;
  const path = join(dirname(test), `over-processes-${basename(test)}`);
  const lines = [
    'process.env.EVMINT_TEST_PROCESSES = "2";',
    `await import("./${basename(test)}");`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

function testFiles(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
