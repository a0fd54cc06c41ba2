/**
 * Runs the tests: every `*.test.ts` under src/ and test/, or those whose path contains an argument.
 * `node --test` takes globs only from Node 21 and exits 0 on zero tests; this script lists the files itself and fails on none.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
/** A file that hangs fails instead of holding up all others. */
const FILE_TIMEOUT_MS = 300_000;

/** Run once more over connections that two RPC processes serve (ADR 53), where no argument selects files. */
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

const files = ["src", "test"]
  .filter((dir) => existsSync(join(root, dir)))
  .flatMap((dir) => testFiles(join(root, dir)))
  .map((file) => relative(root, file))
  .filter((file) => filters.length === 0 || filters.some((filter) => file.includes(filter)))
  .sort();
if (files.length === 0) {
  console.error(`no test file${filters.length ? ` matches ${filters.join(" ")}` : ""}`);
  process.exit(1);
}
const status = run(files, {});
const statusOverProcesses =
  filters.length === 0 ? run(OVER_PROCESSES, { EVMINT_TEST_PROCESSES: "2" }) : 0;
process.exit(status || statusOverProcesses);

/** Exit status of the runner. */
function run(paths: readonly string[], variables: Readonly<Record<string, string>>): number {
  const result = spawnSync(
    process.execPath,
    [
      "--import",
      "tsx",
      "--test",
      `--test-concurrency=${Math.max(2, availableParallelism())}`,
      `--test-timeout=${FILE_TIMEOUT_MS}`,
      ...paths,
    ],
    { cwd: root, stdio: "inherit", env: { ...process.env, ...variables } },
  );
  return result.status ?? 1;
}

function testFiles(dir: string): string[] {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return testFiles(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}
