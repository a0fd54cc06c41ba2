import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNode } from "../../src/index.ts";
import { printTable, writeResult } from "../support/report.ts";

const TRANSACTIONS = 1_000;
const ROUNDS = 9;

/**
 * `npm run bench -- revert`: `evm_snapshot`, a thousand transfers to new accounts, `evm_revert`, with a block for each transfer and with all of them in one
 * block; in memory and on disk. Median of the time of `evm_revert` and of its processor time, after the first two rounds.
 */
export async function run(): Promise<void> {
  const rows = [];
  for (const store of ["memory", "disk"] as const) {
    const home = mkdtempSync(join(tmpdir(), "evmint-bench-"));
    try {
      for (const blocks of [TRANSACTIONS, 1]) {
        await using node = await createNode(store === "disk" ? { home: join(home, String(blocks)) } : {});
        const call = (method: string, ...params: unknown[]) =>
          node.provider.request({ method, params }) as Promise<unknown>;
        rows.push({ store, transactions: TRANSACTIONS, blocks, ...(await measure(call, blocks)) });
      }
    } finally {
      rmSync(home, { recursive: true });
    }
  }
  printTable(rows);
  writeResult("revert", rows);
}

type Call = (method: string, ...params: unknown[]) => Promise<unknown>;

async function measure(call: Call, blocks: number) {
  const [from] = (await call("eth_accounts")) as string[];
  await call("evm_setAutomine", blocks > 1);
  const walls: number[] = [];
  const cpus: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const id = await call("evm_snapshot");
    for (let i = 0; i < TRANSACTIONS; i++) {
      const to = `0x${(0xbeef0000 + i).toString(16).padStart(40, "0")}`;
      await call("eth_sendTransaction", { from, to, value: "0x1", gas: "0x5208" });
    }
    if (blocks === 1) await call("evm_mine");
    const cpu = process.cpuUsage();
    const wall = performance.now();
    await call("evm_revert", id);
    walls.push(performance.now() - wall);
    const { user, system } = process.cpuUsage(cpu);
    cpus.push((user + system) / 1000);
  }
  return { "revert ms": median(walls.slice(2)), "cpu ms": median(cpus.slice(2)) };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
