import { setTimeout as sleep } from "node:timers/promises";
import { startHonestClient } from "../support/honest-client.ts";
import { load } from "../support/load.ts";
import { call, type Peer, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

/** Runs until its gas is gone. */
const LOOP_AT = `0x${"aa".repeat(20)}`;
const LOOP = { [LOOP_AT]: { code: "0x5b5f56" } };
const LOOP_GAS = "0x2faf080";

const CALLERS = 16;
const TRACERS = 4;
const TRANSFERS = 200;
const BLOCK_MS = 1_000;
const PROBE_MS = 10;

/**
 * What one honest client notices while 16 connections run calls of 50 million gas and 4 trace a block of 200 transactions: the latency of
 * `eth_blockNumber`, and how late the latest block of a chain of one block a second was.
 *
 *     npm run bench -- neighbours [--processes 0,1,2] [--seconds 60]
 */
export async function run(args: readonly string[] = []): Promise<void> {
  const textOf = (name: string, fallback: string): string =>
    args[args.indexOf(`--${name}`) + 1 || args.length] ?? fallback;
  const seconds = Number(textOf("seconds", "60"));
  const rows = [];
  for (const processes of textOf("processes", "0,1,2").split(",")) {
    const node = await startEvmint({
      blockTimeSeconds: BLOCK_MS / 1000,
      extraArguments: ["--json-rpc.processes", processes],
    });
    try {
      rows.push({ processes, ...(await measure(node, seconds)) });
    } finally {
      await node.stop();
    }
  }
  printTable(rows);
  writeResult("neighbours", rows, { seconds });
}

async function measure(node: Peer, seconds: number) {
  const requestOf = (method: string, ...params: readonly unknown[]) =>
    JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const call = requestOf("eth_call", { to: LOOP_AT, gas: LOOP_GAS }, "latest", LOOP);
  const trace = requestOf("debug_traceBlockByNumber", await blockToTrace(node.port), {});
  const honest = await startHonestClient(node);
  const [calls, traces, lateMs] = await Promise.all([
    // Each ends with an error: it runs out of gas.
    load(node, call, { connections: CALLERS, seconds, acceptErrors: true }),
    load(node, trace, { connections: TRACERS, seconds }),
    latestBlock(node.port, seconds),
  ]);
  const { p50Ms, p99Ms } = await honest.stop();
  return {
    "p50 ms": p50Ms,
    "p99 ms": p99Ms,
    "latest block ms late": lateMs,
    "heavy calls/s": calls.requestsPerSecond,
    "traces/s": traces.requestsPerSecond,
  };
}

/** By how many milliseconds the time between two blocks exceeded the block time at most. */
async function latestBlock(port: number, seconds: number): Promise<number> {
  const end = performance.now() + seconds * 1000;
  let [head, changedAt, lateMs] = ["", Number.POSITIVE_INFINITY, 0];
  while (performance.now() < end) {
    const number = await call<string>(port, "eth_blockNumber", []);
    const now = performance.now();
    if (number !== head) {
      lateMs = Math.max(lateMs, now - changedAt - BLOCK_MS);
      [head, changedAt] = [number, now];
    }
    await sleep(PROBE_MS);
  }
  return lateMs;
}

/** Number of a block with transfers. */
async function blockToTrace(port: number): Promise<string> {
  const [from, to] = await call<string[]>(port, "eth_accounts", []);
  let hash = "";
  for (let i = 0; i < TRANSFERS; i++) {
    hash = await call<string>(port, "eth_sendTransaction", [{ from, to, value: "0x1" }]);
  }
  for (;;) {
    const receipt = await call<{ blockNumber: string } | null>(port, "eth_getTransactionReceipt", [hash]);
    if (receipt) return receipt.blockNumber;
    await sleep(50);
  }
}
