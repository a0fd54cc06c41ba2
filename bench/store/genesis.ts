import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { genesisState } from "../../src/chain/genesis-block.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { parseGenesis } from "../../src/params/genesis.ts";
import { keccak256Hash } from "../../src/primitives/keccak.ts";
import { createStateTrie } from "../../src/state/state-trie.ts";
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
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    const file = join(directory, "genesis.json");
    writeGenesisFile(file, accounts, hasContracts);
    const parts: Record<string, number> = {};
    const timed = <Result>(name: string, work: () => Result): Result => {
      const [wall, cpu] = [performance.now(), process.cpuUsage()];
      const result = work();
      const { user, system } = process.cpuUsage(cpu);
      parts[`${name} us`] = ((performance.now() - wall) * 1000) / accounts;
      parts[`${name} cpu us`] = (user + system) / accounts;
      return result;
    };
    const genesis = timed("parse", () => parseGenesis(readFileSync(file, "utf8")));
    const store = openDiskBlockStore({ directory: join(directory, "data"), createTrie: createStateTrie });
    timed("store", () => store.appendGenesis(genesisState(genesis)));
    const { stateRoot } = store.header(0)!;
    store.close();
    const row = {
      accounts,
      contracts: hasContracts ? 1 : 0,
      "us an account": parts["parse us"]! + parts["store us"]!,
      "cpu us an account": parts["parse cpu us"]! + parts["store cpu us"]!,
      ...parts,
      "peak MB": process.resourceUsage().maxRSS / 1024,
      "index MB": statSync(join(directory, "data", "index", "data.mdb")).size / 1e6,
    };
    console.log(`state root ${stateRoot}`);
    printTable([row]);
    updateResult("genesis", [row], (row) => `${row.accounts} ${row.contracts}`);
  } finally {
    rmSync(directory, { recursive: true });
  }
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
