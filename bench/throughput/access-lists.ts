/**
 * Import of Amsterdam blocks with their access lists, whose transactions are executed in threads, against the same blocks without lists, and
 * `geth import`: `npm run bench -- access-lists [BLOCKS] [ROUNDS] [KIND]`.
 *
 * Imports take turns, each into a home of its own. The columns are wall time, CPU of the process, of the thread that imports, and of threads that execute.
 */

import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { encodeBlock } from "../../src/base/types/block-codec.ts";
import { cpuSecondsOf, gethBinary } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { threadSecondsOf } from "../support/thread-times.ts";
import { hashingCode, hashingContractAt } from "./hashing-contract.ts";
import { memoryBlocks } from "./memory-blocks.ts";
import { genesisText, type SignedTransaction, senderKeys, signAll, signEach } from "./workload.ts";

const EVMINTD = fileURLToPath(new URL("../../bin/evmintd.js", import.meta.url));
const SENDERS = 200;
const CONTRACTS = 100;
const POLL_MS = 20;
/** Recipients that do not exist before. */
const RECIPIENTS = 100_000;

const WORKER = hashingCode("600035"); // PUSH1 0, CALLDATALOAD

type Workload = {
  readonly name: string;
  /** Transactions of a block. */
  readonly count: number;
  readonly sign: (keys: readonly Uint8Array[], count: number) => readonly SignedTransaction[];
};

const working = (rounds: number) => (keys: readonly Uint8Array[], count: number) =>
  signEach(keys, count, (n) => ({
    to: hashingContractAt(n % CONTRACTS),
    value: 0n,
    gasLimit: 16_000_000n,
    data: hexToBytes(`0x${rounds.toString(16).padStart(64, "0")}`),
  }));

const WORKLOADS: readonly Workload[] = [
  { name: "hashing, 1,500 rounds", count: 200, sign: working(1_500) },
  { name: "hashing, 300 rounds", count: 500, sign: working(300) },
  { name: "swaps", count: 500, sign: (keys, count) => signAll("swap", keys, count) },
  { name: "transfers", count: 1_000, sign: (keys, count) => signAll("transfer", keys, count, RECIPIENTS) },
];

export async function run([blocks = "40", rounds = "3", only = ""]: readonly string[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    const rows = [];
    for (const workload of WORKLOADS.filter(({ name }) => name.includes(only))) {
      rows.push(...(await importRows(directory, workload, Number(blocks), Number(rounds))));
    }
    printTable(rows);
    writeResult("access-lists", rows, { blocks, rounds });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function importRows(directory: string, { name, count, sign }: Workload, blocks: number, rounds: number) {
  const keys = senderKeys(SENDERS);
  const genesis = genesisWithWorkers(keys);
  const genesisFile = join(directory, "genesis.json");
  writeFileSync(genesisFile, genesis);
  const files = { withLists: join(directory, "lists.rlp"), without: join(directory, "blocks.rlp") };
  writeChain(files, genesis, sign(keys, count * blocks), count);
  const evmintd = [process.execPath, EVMINTD];
  const geth = gethBinary();
  const runs: Record<string, (home: string) => { init: readonly string[]; import: readonly string[] }> = {
    "with lists": (home) => ({
      init: [...evmintd, "init", "--home", home, "--genesis", genesisFile],
      import: [...evmintd, "import", files.withLists, "--home", home],
    }),
    "without lists": (home) => ({
      init: [...evmintd, "init", "--home", home, "--genesis", genesisFile],
      import: [...evmintd, "import", files.without, "--home", home],
    }),
    ...(geth && {
      geth: (home: string) => ({
        init: [geth, "--datadir", home, "--verbosity", "1", "init", genesisFile],
        import: [geth, "--datadir", home, "--verbosity", "1", "import", files.without],
      }),
    }),
  };
  const results = new Map<string, Timed[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [node, commands] of Object.entries(runs)) {
      const home = join(directory, `home-${round}-${node.replace(" ", "-")}`);
      const { init, import: command } = commands(home);
      await timed(init);
      const result = await timed(command);
      results.set(node, [...(results.get(node) ?? []), result]);
      console.log(JSON.stringify({ name, node, ...result }));
      rmSync(home, { recursive: true, force: true });
    }
  }
  return [...results].map(([node, all]) => {
    const median = all.toSorted((a, b) => a.seconds - b.seconds)[all.length >> 1]!;
    const each = (seconds: number) => Math.round((seconds * 1e6) / (count * blocks));
    return {
      workload: name,
      import: node,
      seconds: median.seconds,
      "tx/s": Math.round((count * blocks) / median.seconds),
      "CPU us/tx": each(median.cpu),
      "chain us/tx": node === "geth" ? "" : each(median.chain),
      "ahead us/tx": node === "geth" ? "" : each(median.ahead),
    };
  });
}

function genesisWithWorkers(keys: readonly Uint8Array[]): string {
  const genesis = JSON.parse(genesisText(keys, 0, "amsterdam"));
  for (let i = 0; i < CONTRACTS; i++) {
    genesis.alloc[hashingContractAt(i)] = { balance: "0x0", nonce: "0x1", code: `0x${WORKER}` };
  }
  return JSON.stringify(genesis);
}

/** Blocks of `count` transactions each, as two chain files. */
function writeChain(
  files: { readonly withLists: string; readonly without: string },
  genesisJson: string,
  transactions: readonly SignedTransaction[],
  count: number,
): void {
  const withLists = openSync(files.withLists, "w");
  const without = openSync(files.without, "w");
  for (const { block, accessList } of memoryBlocks(genesisJson, transactions, count)) {
    writeSync(withLists, accessList!);
    for (const file of [withLists, without]) writeSync(file, encodeBlock(block));
  }
  closeSync(withLists);
  closeSync(without);
}

/** Wall seconds of a command, and CPU seconds of the process that runs it. */
type Timed = {
  readonly seconds: number;
  readonly cpu: number;
  /** Of the thread that imports. */
  readonly chain: number;
  /** Of threads that execute ahead, together. */
  readonly ahead: number;
};

/** Runs a command to its end. @throws when it fails */
async function timed([program, ...args]: readonly string[]): Promise<Timed> {
  const begin = performance.now();
  const child = spawn(program!, args, { stdio: ["ignore", "ignore", "pipe"] });
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  let last = { cpu: 0, chain: 0, ahead: 0 };
  const poll = setInterval(() => {
    try {
      const { chain, threads } = threadSecondsOf(child.pid!);
      last = { cpu: cpuSecondsOf(child.pid!), chain, ahead: threads["speculate"] ?? 0 };
    } catch {
      // It has ended.
    }
  }, POLL_MS);
  const code = await new Promise((resolve) => child.once("close", resolve));
  clearInterval(poll);
  if (code !== 0) throw new Error(`${program} ${args.join(" ")}: ${text}`);
  return { seconds: (performance.now() - begin) / 1000, ...last };
}
