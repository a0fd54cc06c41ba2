/**
 * Whole-chain work: `npm run bench -- chain-files [TRANSFERS] [ERC20_TRANSFERS] [GENESIS_ACCOUNTS] [SWAPS]`.
 *
 * - import: the same chain file, every block validated and executed, by `evmintd import` and `geth import`.
 * - reindex: the index of the imported chain built anew from the block log.
 * - genesis: the first start on a genesis file of many accounts, here by an import of no blocks.
 *
 * Peaks are of two kinds. Anonymous memory is what a process has for itself, and what a machine has to have. Mapped files are pages of the system's
 * cache that a process has looked at: those of the index, of which LMDB maps all, and of programs. They grow with the file that is imported, count as resident, and
 * the system takes them back as soon as it needs them; a store that reads its files has the same pages in the same cache, and they count for nobody.
 */

import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { encodeBlock } from "../../src/base/types/block-codec.ts";
import { gethBinary } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { memoryBlocks } from "./memory-blocks.ts";
import { genesisText, type Kind, type SignedTransaction, senderKeys, signAll } from "./workload.ts";

const EVMINTD = fileURLToPath(new URL("../../bin/evmintd.js", import.meta.url));
const TRANSACTIONS_PER_BLOCK = 2_000;
const SENDERS = 500;
/** Recipients that do not exist before, so that the state grows as on a chain in use. */
const RECIPIENTS = 100_000;
const POLL_MS = 50;

type Row = {
  readonly work: string;
  readonly node: string;
  readonly seconds: number;
  readonly "tx/s": number | string;
  readonly "CPU us/tx": number | string;
  /** Anonymous memory. */
  readonly "peak MB": number;
  /** Resident pages of mapped files. */
  readonly "mapped MB": number;
};

export async function run([
  transfers = "40000",
  tokens = "20000",
  accounts = "1000000",
  swaps = "10000",
]: readonly string[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    const rows: Row[] = [];
    for (const [kind, count] of [
      ["transfer", Number(transfers)],
      ["erc20", Number(tokens)],
      ["swap", Number(swaps)],
    ] as const) {
      if (count > 0) rows.push(...(await importRows(directory, kind, count)));
    }
    if (Number(accounts) > 0) rows.push(await genesisRow(directory, Number(accounts)));
    printTable(rows);
    writeResult("chain-files", rows);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function importRows(directory: string, kind: Kind, count: number): Promise<readonly Row[]> {
  const keys = senderKeys(SENDERS);
  const genesis = genesisText(keys);
  const genesisFile = join(directory, `${kind}-genesis.json`);
  const chainFile = join(directory, `${kind}.rlp`);
  writeFileSync(genesisFile, genesis);
  writeChain(chainFile, genesis, signAll(kind, keys, count, RECIPIENTS));
  const rows: Row[] = [];
  const measured = async (work: string, node: string, command: readonly string[]) => {
    rows.push(rowOf(`${work}, ${count} ${kind}`, node, count, await timed(command)));
    console.log(JSON.stringify(rows.at(-1)));
  };
  const home = join(directory, `${kind}-evmint`);
  const evmintd = [process.execPath, EVMINTD];
  await timed([...evmintd, "init", "--home", home, "--genesis", genesisFile]);
  await measured("import", "evmint", [...evmintd, "import", chainFile, "--home", home]);
  await measured("reindex", "evmint", [...evmintd, "reindex", "--home", home]);
  const geth = gethBinary();
  if (geth === undefined) return rows;
  for (const mode of ["full", "archive"]) {
    const data = ["--datadir", join(directory, `${kind}-geth-${mode}`), "--verbosity", "1"];
    await timed([geth, ...data, "init", genesisFile]);
    await measured("import", `geth ${mode}`, [geth, ...data, "--gcmode", mode, "import", chainFile]);
  }
  return rows;
}

async function genesisRow(directory: string, accounts: number): Promise<Row> {
  const home = join(directory, "genesis-home");
  const genesisFile = join(directory, "genesis.json");
  const emptyFile = join(directory, "empty.rlp");
  writeFileSync(genesisFile, genesisText(senderKeys(1), accounts));
  writeFileSync(emptyFile, "");
  const evmintd = [process.execPath, EVMINTD];
  await timed([...evmintd, "init", "--home", home, "--genesis", genesisFile]);
  const result = await timed([...evmintd, "import", emptyFile, "--home", home]);
  return rowOf(`genesis of ${accounts} accounts`, "evmint", accounts, result);
}

/** Blocks of the transactions on the genesis, as a chain file. */
function writeChain(path: string, genesisJson: string, transactions: readonly SignedTransaction[]): void {
  const file = openSync(path, "w");
  for (const { block } of memoryBlocks(genesisJson, transactions, TRANSACTIONS_PER_BLOCK))
    writeSync(file, encodeBlock(block));
  closeSync(file);
}

type Timed = { readonly seconds: number; readonly cpuSeconds: number; readonly peak: Memory };

/** Bytes of a process: what it has for itself, and resident pages of mapped files. */
type Memory = { readonly anonymous: number; readonly mapped: number };

const NO_MEMORY: Memory = { anonymous: 0, mapped: 0 };

/** Runs a command to its end. @throws when it fails */
async function timed(command: readonly string[]): Promise<Timed> {
  const script = 'TIMEFORMAT="%R %U %S"; time "$@"';
  const shell = spawn("bash", ["-c", script, "bash", ...command], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  shell.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
  });
  let peak = NO_MEMORY;
  const poll = setInterval(() => {
    const { anonymous, mapped } = memoryOfChild(shell.pid!);
    peak = { anonymous: Math.max(peak.anonymous, anonymous), mapped: Math.max(peak.mapped, mapped) };
  }, POLL_MS);
  const code = await new Promise((resolve) => shell.once("close", resolve));
  clearInterval(poll);
  if (code !== 0) throw new Error(`${command.join(" ")}: ${text}`);
  const [seconds, user, system] = text.trim().split("\n").at(-1)!.split(" ").map(Number);
  return { seconds: seconds!, cpuSeconds: user! + system!, peak };
}

/** Memory of the process that the shell runs; none where it has no such process. */
function memoryOfChild(shell: number): Memory {
  try {
    const [child] = readFileSync(`/proc/${shell}/task/${shell}/children`, "latin1").split(" ");
    const status = readFileSync(`/proc/${child}/status`, "latin1");
    const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1] ?? 0) * 1024;
    return { anonymous: bytes("RssAnon"), mapped: bytes("RssFile") };
  } catch {
    return NO_MEMORY;
  }
}

function rowOf(work: string, node: string, count: number, result: Timed): Row {
  const { seconds, cpuSeconds, peak } = result;
  return {
    work,
    node,
    seconds,
    "tx/s": Math.round(count / seconds),
    "CPU us/tx": Math.round((cpuSeconds * 1e6) / count),
    "peak MB": Math.round(peak.anonymous / 2 ** 20),
    "mapped MB": Math.round(peak.mapped / 2 ** 20),
  };
}
