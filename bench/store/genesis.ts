import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseGenesis } from "../../src/base/params/genesis.ts";
import { keccak256Hash } from "../../src/base/primitives/keccak.ts";
import { genesisState } from "../../src/chain/genesis-block.ts";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { printTable, updateResult } from "../support/report.ts";

const ACCOUNTS = 300_000;
/** One account in so many is a contract with a few slots. */
const CONTRACT_EVERY = 10;
const SLOTS = 5;

/**
 * `npm run bench -- genesis [ACCOUNTS] [--contracts]`: the first start of a chain with so many accounts in its genesis file: reading the
 * file, and writing block 0 to an empty store on disk. Figures are microseconds an account.
 */
export async function run(args: readonly string[]): Promise<void> {
  const accounts = Number(args.find((arg) => !arg.startsWith("--")) ?? ACCOUNTS);
  const hasContracts = args.includes("--contracts");
  const measured = args.find((arg) => arg.startsWith("--measure="))?.slice(10);
  if (measured !== undefined) {
    console.log(JSON.stringify(measure(measured, accounts)));
    return;
  }
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    writeGenesisFile(join(directory, "genesis.json"), accounts, hasContracts);
    // In a process of its own, for the memory that it takes.
    const command = [...process.execArgv, ...process.argv.slice(1), `--measure=${directory}`];
    const answer = execFileSync(process.execPath, command, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    const row = { accounts, contracts: hasContracts ? accounts / CONTRACT_EVERY : 0, ...JSON.parse(answer) };
    printTable([row]);
    updateResult("genesis", [row], (row) => `${row.accounts} ${row.contracts}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function measure(directory: string, accounts: number): Readonly<Record<string, string | number>> {
  const parts: Record<string, number> = {};
  const timed = <Result>(name: string, work: () => Result): Result => {
    const [wall, cpu] = [performance.now(), process.cpuUsage()];
    const result = work();
    const { user, system } = process.cpuUsage(cpu);
    parts[`${name} us`] = ((performance.now() - wall) * 1000) / accounts;
    parts[`${name} cpu us`] = (user + system) / accounts;
    return result;
  };
  const genesis = timed("parse", () => parseGenesis(readFileSync(join(directory, "genesis.json"), "utf8")));
  const store = openDiskBlockStore({
    defer: deferNothing,
    directory: join(directory, "data"),
    createTrie: createStateTrie,
  });
  timed("store", () => store.appendGenesis(genesisState(genesis)));
  const peakMB = process.resourceUsage().maxRSS / 1024;
  const { stateRoot } = store.header(0)!;
  store.close();
  return {
    "us an account": parts["parse us"]! + parts["store us"]!,
    "cpu us an account": parts["parse cpu us"]! + parts["store cpu us"]!,
    ...parts,
    "peak MB": peakMB,
    "state root": stateRoot.slice(0, 10),
  };
}

function writeGenesisFile(path: string, accounts: number, hasContracts: boolean): void {
  const file = openSync(path, "w");
  writeSync(file, `{"config":{"chainId":1},"difficulty":"0x0","gasLimit":"0x1c9c380","alloc":{\n`);
  let lines: string[] = [];
  for (let i = 0; i < accounts; i++) {
    lines.push(`"${addressAt(i)}":${accountAt(i, hasContracts)}${i === accounts - 1 ? "" : ","}`);
    if (lines.length < 10_000) continue;
    writeSync(file, lines.join("\n"));
    lines = [];
  }
  writeSync(file, `${lines.join("\n")}}}`);
  closeSync(file);
}

function addressAt(i: number): string {
  return keccak256Hash(Buffer.from(`account ${i}`)).slice(0, 42);
}

function accountAt(i: number, hasContracts: boolean): string {
  const balance = `0x${(10n ** 18n + BigInt(i) * 10n ** 12n).toString(16)}`;
  if (!hasContracts || i % CONTRACT_EVERY > 0) return JSON.stringify({ balance });
  const slots = Array.from({ length: SLOTS }, (_, n) => [keccak256Hash(Buffer.from(`slot ${i} ${n}`)), `0x${n + 1}`]);
  const code = `0x60${(i % 256).toString(16).padStart(2, "0")}${"5b".repeat(600)}`;
  return JSON.stringify({ balance, nonce: "0x1", code, storage: Object.fromEntries(slots) });
}
