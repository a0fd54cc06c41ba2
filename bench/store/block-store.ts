/**
 * The block store on disk: appending blocks of transfers and empty blocks, reading old state, opening.
 *
 *     node --import tsx bench/store/block-store.ts [blocks of transfers] [empty blocks]
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlockRecord } from "../../src/chain/store/block-store.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/state/merkle-state-trie.ts";
import type { TrieNode } from "../../src/trie/node-store.ts";
import { createTransferChain } from "./transfer-chain.ts";

const ACCOUNTS = 100_000;
const TRANSFERS = 200;
const blocksOfTransfers = Number(process.argv[2] ?? 500);
const emptyBlocks = Number(process.argv[3] ?? 10_000);

const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
/** Milliseconds since the step before, by step: on the clock and of the processor. */
const times = new Map<string, { wall: number; cpu: number }>();
let lastPoint = { wall: 0, cpu: 0 };
const now = () => {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1000 };
};
const options = {
  directory,
  createTrie: createStateTrie,
  failPoint(name: string) {
    const point = now();
    const step = `until ${name}`;
    const { wall, cpu } = times.get(step) ?? { wall: 0, cpu: 0 };
    times.set(step, {
      wall: wall + point.wall - lastPoint.wall,
      cpu: cpu + point.cpu - lastPoint.cpu,
    });
    lastPoint = point;
  },
};
let store = openDiskBlockStore(options);
const chain = createTransferChain(ACCOUNTS, createStateTrie(store.trieNodes));

/** Appends `count` blocks and prints the time of each step and the growth of the files, a block. */
async function measure(
  name: string,
  count: number,
  nextBlock: () => { readonly record: BlockRecord; readonly nodes: readonly TrieNode[] },
) {
  times.clear();
  const before = sizes();
  let nodeCount = 0;
  const appends: number[] = [];
  for (let i = 0; i < count; i++) {
    const { record, nodes } = nextBlock();
    nodeCount += nodes.length;
    lastPoint = now();
    const start = lastPoint.wall;
    store.append(record, nodes);
    appends.push(performance.now() - start);
    // Lets the history merge, as the event loop of a node does between blocks.
    await new Promise((resolve) => setImmediate(resolve));
  }
  appends.sort((a, b) => a - b);
  const after = sizes();
  const at = (part: number) => appends[Math.floor(appends.length * part)]!.toFixed(2);
  console.log(`append, ${name}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
  for (const [step, { wall, cpu }] of times) {
    console.log(
      `    ${step}: ${(wall / count).toFixed(3)} ms, processor ${(cpu / count).toFixed(3)}`,
    );
  }
  console.log(
    `    log ${Math.round((after.log - before.log) / count)} bytes, index ${Math.round((after.index - before.index) / count)} bytes, trie nodes ${(nodeCount / count).toFixed(1)}`,
  );
}

function sizes(): { log: number; index: number } {
  const size = (folder: string) =>
    readdirSync(join(directory, folder)).reduce(
      (sum, file) => sum + statSync(join(directory, folder, file)).size,
      0,
    );
  return { log: size("log"), index: statSync(join(directory, "index", "data.mdb")).blocks * 512 };
}

/** Microseconds of one call, in the mean of `count`. */
function each(count: number, work: (i: number) => unknown): string {
  const start = performance.now();
  for (let i = 0; i < count; i++) work(i);
  return (((performance.now() - start) * 1000) / count).toFixed(1);
}

const genesis = chain.genesis();
store.append(genesis.record, genesis.nodes);
await measure(`${TRANSFERS} transfers`, blocksOfTransfers, () => chain.transfers(TRANSFERS));
await measure("no transactions", emptyBlocks, chain.empty);

const head = store.head()!;
store.close();
const opening = performance.now();
store = openDiskBlockStore(options);
console.log(`open with ${head + 1} blocks: ${Math.round(performance.now() - opening)} ms`);
const random = () => Math.floor(Math.random() * ACCOUNTS);
const newest = store.stateAt(head);
for (let i = 0; i < 20_000; i++) newest.account(chain.addresses[random()]!);
console.log(
  `account at head: ${each(50_000, () => newest.account(chain.addresses[random()]!))} us`,
);
const old = store.stateAt(Math.floor(blocksOfTransfers / 2));
console.log(
  `account at an old block: ${each(50_000, () => old.account(chain.addresses[random()]!))} us`,
);
const firsts = Math.min(200, blocksOfTransfers - 1);
console.log(`decode ${TRANSFERS} transfers: ${each(firsts, (i) => store.block(i + 1))} us`);
console.log(
  `decode no transactions: ${each(2_000, (i) => store.block(blocksOfTransfers + 1 + (i % emptyBlocks)))} us`,
);
store.close();
const reindexing = performance.now();
store = openDiskBlockStore({ ...options, reindex: true });
console.log(`reindex ${head + 1} blocks: ${Math.round(performance.now() - reindexing)} ms`);
store.close();
rmSync(directory, { recursive: true });
