/** Which test files run where: the one place that knows their groups and passes. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";

/** Kill processes again and again, drive a browser where there is one, or do one thing for seconds. */
const LONG = [
  "src/base/crypto/bls12-381/bls12-381.test.ts",
  "src/base/crypto/kzg/kzg.test.ts",
  "src/chain/store/block-range.test.ts",
  "src/chain/store/failed-commits.test.ts",
  "src/chain/store/follow/published-head.test.ts",
  "src/chain/store/follow/store-follower.test.ts",
  "src/chain/store/index/index-files.test.ts",
  "src/chain/store/index/load-genesis.test.ts",
  "src/chain/store/merge-pacing.test.ts",
  "src/chain/store/nodes/historic-nodes.test.ts",
  "src/chain/store/nodes/node-history.test.ts",
  "src/chain/store/open-block-store.test.ts",
  "src/chain/store/retention/retention.test.ts",
  "src/chain/store/rollback-undo.test.ts",
  "src/chain/store/store-model.test.ts",
  "src/chain/store/unseen-index.test.ts",
  "src/dev/fork/poisoned-answers.test.ts",
  "src/evm/machine/gen/compiled/opcodes.test.ts",
  "src/heritage/les/checkpoints/checkpoint-indexer.test.ts",
  "src/node/adapters/log-search.test.ts",
  "src/node/chain-files/execute-ahead.test.ts",
  "src/node/compiled-contracts/threaded-compiler.test.ts",
  "src/node/keystore/hd/hd-wallets.test.ts",
  "src/node/keystore/key-file.test.ts",
  "src/node/services/blob-workers.test.ts",
  "src/node/services/solidity-compiler.test.ts",
  "src/store/storage/lmdb/lmdb-check.test.ts",
  "test/browser/",
  "test/conformance/amsterdam-chain.test.ts",
  "test/conformance/precompiles.test.ts",
  "test/conformance/t8n.test.ts",
  "test/crash/",
  "test/deploy/alerts.test.ts",
  "test/deploy/haproxy.test.ts",
  "test/differential/",
  "test/docs/examples",
  "test/docs/runnable.test.ts",
  "test/docs/walk.test.ts",
  "test/e2e/amsterdam.test.ts",
  "test/e2e/backfill.test.ts",
  "test/e2e/bundle.test.ts",
  "test/e2e/call-counts.test.ts",
  "test/e2e/compiled-contracts.test.ts",
  "test/e2e/console.test.ts",
  "test/e2e/damaged-index.test.ts",
  "test/e2e/debug-runtime.test.ts",
  "test/e2e/dev-control-model.test.ts",
  "test/e2e/dev-control-reset.test.ts",
  "test/e2e/dev-fork",
  "test/e2e/dev-snapshots.test.ts",
  "test/e2e/etherscan-api.test.ts",
  "test/e2e/execution-threads.test.ts",
  "test/e2e/execution-witness.test.ts",
  "test/e2e/geth-import.test.ts",
  "test/e2e/les/serving.test.ts",
  "test/e2e/limits/chain-files.test.ts",
  "test/e2e/limits/counted-work.test.ts",
  "test/e2e/limits/evm-limits.test.ts",
  "test/e2e/limits/followers-soak.test.ts",
  "test/e2e/limits/idle-sockets.test.ts",
  "test/e2e/limits/large-answers.test.ts",
  "test/e2e/limits/overload.test.ts",
  "test/e2e/limits/storage-faults.test.ts",
  "test/e2e/next-block.test.ts",
  "test/e2e/pool-journal.test.ts",
  "test/e2e/pool-load.test.ts",
  "test/e2e/rolled-back.test.ts",
  "test/e2e/rpc-processes.test.ts",
  "test/e2e/same-answers.test.ts",
  "test/e2e/shh/nodes.test.ts",
  "test/e2e/trace-chain.test.ts",
  "test/explorer/developer.test.ts",
  "test/explorer/lies.test.ts",
  "test/explorer/recompile.test.ts",
  "test/explorer/screenshots.test.ts",
  "test/explorer/walk.test.ts",
  "test/explorer/wallet.test.ts",
  "test/fuzz/",
  "test/package-lock.test.ts",
  "test/security/account-permissions.test.ts",
  "test/security/poisoned-snapshots.test.ts",
  "test/setup.test.ts",
  "test/simulation/cometbft/agreement.test.ts",
  "test/simulation/cometbft/head-age.test.ts",
  "test/simulation/cometbft/state-sync.test.ts",
  "test/simulation/determinism.test.ts",
  "test/simulation/mutants/mutants.test.ts",
  "test/simulation/seeds.test.ts",
  "test/storm/",
];

/**
 * The nightly run has them: those that take minutes or go at the pace of real servers, pages beyond the walk through the explorer, examples of slow methods,
 * what tests the storm itself, and the setup of a clone, with which each run of continuous integration begins.
 */
const NIGHTLY = [
  "test/crash/damaged-pages.test.ts",
  "test/deploy/haproxy.test.ts",
  "test/docs/examples-slow.test.ts",
  "test/e2e/limits/followers-soak.test.ts",
  "test/explorer/recompile.test.ts",
  "test/explorer/screenshots.test.ts",
  "test/setup.test.ts",
  "test/storm/faulty-nodes.test.ts",
];

/**
 * Each change runs these of the long ones: what is acknowledged is kept, and blocks and answers are geth's. Of the others, and of what runs a second time on another version
 * of Node.js or over RPC processes, it runs a share, and with each share the tests of the runner.
 */
const EACH_CHANGE = [
  "test/conformance/t8n.test.ts",
  "test/crash/crash.test.ts",
  "test/differential/recorded.test.ts",
  "test/simulation/seeds.test.ts",
  "test/storm/storm.test.ts",
  "test/test-runner.test.ts",
];

/** One change in so many runs a given file. */
export const SHARES = 3;

/** Run once more over connections that two RPC processes serve (ADR 53). */
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

/** Of those the ones that only the nightly run repeats: the transport counts and refuses requests in an RPC process as it does in the chain's. */
const OVER_PROCESSES_NIGHTLY = [
  "test/e2e/limits/http-limits.test.ts",
  "test/e2e/limits/request-limits.test.ts",
  "test/e2e/limits/ws-limits.test.ts",
];

/** Depend on the engine: threads, processes, WebAssembly, HTTP parsing, files, start and stop. */
const ENGINE = [
  "src/base/wasm/",
  "src/base/threads/",
  "src/evm/machine/engine",
  "src/evm/machine/modules/",
  "src/node/calls/",
  "src/node/processes/",
  "src/base/primitives/",
  "src/rpc/transport/server/",
  "src/store/storage/kv",
  "src/store/storage/lmdb/",
  "src/store/storage/lock",
  "src/store/storage/log/log-follower",
  "src/evm/tracing/js/",
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
  "test/test-runner",
];

/** Of those the ones that only the nightly run has on the newest version. */
const NEWEST_NIGHTLY = [
  "src/store/storage/lmdb/lmdb-build",
  "src/store/storage/lmdb/lmdb-check",
  "test/e2e/compiled-contracts",
  "test/e2e/rpc-processes",
];

/** Networks with the real CometBFT, which TEST_COMETBFT=1 runs. */
const COMETBFT = /^test\/network\/(?!manual)[^/]+$/;

/** Modules that tests run in processes of their own (test/support/test-program.ts). */
export const PROGRAMS: readonly string[] = [
  "test/support/cli/run-fake-node.ts",
  "test/support/cli/run-main.ts",
  "test/support/store/storage/follow-rows.ts",
  "test/support/store/storage/lock-holder.ts",
  "test/support/base/wasm/compile-calls.ts",
  "test/crash/migration-victim.ts",
  "test/crash/writer.ts",
  "test/network/faults/sampler-program.ts",
];

/** Versions of Node.js that users have. */
export const NODE_VERSIONS = ["20", "22", "24", "26"] as const;

/** The files of a folder of a room share a process. A folder above this size is split by the folders in it. */
const ROOM_FILES_MAX = 24;

/** Files of these folders, not of folders in them, share processes as well: a node is compiled and warm after the first of them. */
const SHARED_FOLDERS = ["test/e2e", "test/security"];

/** Of them, one after the other in a process: all in one would be what the queue waits for. */
const SHARED_FILES_MAX = 6;

/** Change or measure what a process is. */
const ALONE: readonly string[] = ["test/e2e/debug-runtime", "test/e2e/crash-policy", "test/e2e/process-end"];

const startsWithOneOf = (paths: readonly string[]) => (file: string) => paths.some((path) => file.startsWith(path));

export const isLong = startsWithOneOf(LONG);
export const isNightly = startsWithOneOf(NIGHTLY);
const runsWithEachChange = startsWithOneOf(EACH_CHANGE);
const isRepeatedOverProcesses = startsWithOneOf(OVER_PROCESSES);
const isRepeatedAtNight = startsWithOneOf(OVER_PROCESSES_NIGHTLY);
export const needsCometBft = (file: string) => COMETBFT.test(file);
export const dependsOnEngine = startsWithOneOf(ENGINE);
const isNightlyOnNewest = startsWithOneOf(NEWEST_NIGHTLY);
const isAlone = startsWithOneOf(ALONE);

/** Whether a file runs again over RPC processes, with a change or in the nightly run. */
export function isOverProcesses(file: string, inNightly: boolean): boolean {
  return isRepeatedOverProcesses(file) && (inNightly || !isRepeatedAtNight(file));
}

/** Of `files` those that a change runs on the newest version of Node.js, beside all on the oldest. The nightly run has the versions between. */
export function onNewest(files: readonly string[]): string[] {
  return files.filter((file) => dependsOnEngine(file) && !isNightlyOnNewest(file));
}

/** The share that a commit runs: its hash is as good as drawn, and a second run has the same. */
export function shareOf(commit: string): number {
  return Number.parseInt(commit.slice(0, 8), 16) % SHARES;
}

/** Every `SHARES`-th of the jobs in the order of `secondsOf`, so that shares take much the same time, and those of `EACH_CHANGE`. */
export function jobsInShare<T extends Group>(jobs: readonly T[], share: number, secondsOf: (job: T) => number): T[] {
  const always = jobs.filter(({ name }) => runsWithEachChange(name));
  const others = jobs.filter(({ name }) => !runsWithEachChange(name)).sort((a, b) => secondsOf(b) - secondsOf(a));
  return [...always, ...others.filter((_, index) => index % SHARES === share)];
}

/** All test files below src/ and test/, as paths below `root`. `node --test` takes globs only from Node.js 21. */
export function testFiles(root: string): string[] {
  return ["src", "test"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => filesBelow(join(root, folder)))
    .map((file) => relative(root, file).replaceAll("\\", "/"))
    .sort();
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.name.endsWith(".test.ts") ? [path] : [];
  });
}

/** Files that share a process. */
export type Group = { readonly name: string; readonly files: readonly string[] };

/** Those of src/ by room, and some of each of `SHARED_FOLDERS`; other files of test/, and each long one, have processes of their own. */
export function groupsOf(files: readonly string[]): Group[] {
  const short = files.filter((file) => !isLong(file) && !isAlone(file));
  const rooms = groupBy(
    short.filter((file) => file.startsWith("src/")),
    (file) => folderOf(file, 3),
  ).flatMap((room) => (room.files.length > ROOM_FILES_MAX ? groupBy(room.files, (file) => folderOf(file, 4)) : room));
  const sharing = SHARED_FOLDERS.flatMap((folder) =>
    partsOf(
      folder,
      short.filter((file) => dirname(file) === folder),
    ),
  );
  const groups = [...rooms, ...sharing];
  const grouped = new Set(groups.flatMap((group) => group.files));
  const alone = files.filter((file) => !grouped.has(file)).map((file) => ({ name: file, files: [file] }));
  return [...groups, ...alone];
}

/** Groups of equal size. */
function partsOf(folder: string, files: readonly string[]): Group[] {
  const parts = Math.ceil(files.length / SHARED_FILES_MAX);
  return Array.from({ length: parts }, (_, part) => ({
    name: files.length === 1 ? files[0]! : `${folder}, part ${part + 1} of ${parts}`,
    files: files.filter((_file, index) => index % parts === part),
  }));
}

/** The first `depth` folders of a file's path, or as many as it has. */
function folderOf(file: string, depth: number): string {
  return file.split("/").slice(0, -1).slice(0, depth).join("/");
}

function groupBy(files: readonly string[], nameOf: (file: string) => string): Group[] {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const name = nameOf(file);
    groups.set(name, [...(groups.get(name) ?? []), file]);
  }
  return [...groups].map(([name, inGroup]) => ({ name, files: inGroup }));
}
