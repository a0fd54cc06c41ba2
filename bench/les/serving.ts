import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../src/config/load.ts";
import { readJwtSecret } from "../../src/config/secrets.ts";
import { clientIdOf } from "../../src/les/serving/client-id.ts";
import { startNode } from "../../src/node/start-node.ts";
import { signJwt } from "../../src/rpc/auth/jwt.ts";
import { SILENT_LOGGER } from "../../src/telemetry/logger.ts";
import { printTable, writeResult } from "../support/report.ts";

const CONTRACT = `0x${"aa".repeat(20)}`;
/** Some 20 ms of an endless loop. */
const LOOP_GAS = "0x989680";
/** Calls of the paying client: one each. */
const PAYER_INTERVAL_MS = 20;
/** Connections of the free client that ask again at once. */
const FREE_CALLERS = 8;
const IN_TIME_MS = 50;

/**
 * `npm run bench -- light-serving [SECONDS]`: a client without balance asks for more than a core can do, one with balance asks for a balance
 * every 20 ms. The part of the paying client's calls that are answered within 50 ms: alone, without `les.serve`, and with it.
 */
export async function run([secondsText = "60"]: readonly string[]): Promise<void> {
  const seconds = Number(secondsText);
  const rows = [
    // What this machine does to the paying client by itself.
    await measure("80", 0, seconds),
    await measure("0", FREE_CALLERS, seconds),
    await measure("80", FREE_CALLERS, seconds),
  ];
  printTable(rows);
  writeResult("light-serving", rows, { seconds });
}

async function measure(serve: string, freeCallers: number, seconds: number) {
  const home = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const flags = {
    "json-rpc.address": "127.0.0.1:0",
    "json-rpc.ws-address": "127.0.0.1:0",
    // One thread for all, so that its time is what the two compete for.
    "json-rpc.workers": "0",
    "les.serve": serve,
  };
  const { config } = loadConfig({ home, dev: true, flags, environment: {} });
  const node = await startNode(config, SILENT_LOGGER);
  try {
    const { url } = node.listeners.find(({ kind }) => kind === "http")!;
    const iat = Math.floor(Date.now() / 1000);
    const token = signJwt({ exp: iat + 3600, sub: "payer" }, readJwtSecret(home));
    const payer = { authorization: `Bearer ${token}` };
    const id = clientIdOf("key", "payer");
    const call = async (method: string, params: unknown[], headers = {}) => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return (await response.json()) as { readonly error?: { readonly code: number } };
    };
    await call("les_addBalance", [id, "0x7fffffffffffffff"], payer);
    await call("eth_blockNumber", [], payer);
    if (serve !== "0") await call("les_setClientParams", [[id], { capacity: 500_000 }], payer);

    const end = performance.now() + seconds * 1000;
    const free = { served: 0, rejected: 0 };
    const loop = [{ to: CONTRACT, gas: LOOP_GAS }, "latest", { [CONTRACT]: { code: "0x5b5f56" } }];
    const freeCaller = async () => {
      while (performance.now() < end) {
        const { error } = await call("eth_call", loop);
        if (error?.code === -32005) {
          free.rejected++;
          await new Promise((resolve) => setTimeout(resolve, 10));
        } else free.served++;
      }
    };
    const times: number[] = [];
    let failed = 0;
    const paying = async () => {
      const pending: Promise<void>[] = [];
      while (performance.now() < end) {
        const begin = performance.now();
        const ask = async () => {
          const { error } = await call("eth_getBalance", [CONTRACT, "latest"], payer);
          if (error) failed++;
          times.push(performance.now() - begin);
        };
        pending.push(ask());
        await new Promise((resolve) => setTimeout(resolve, PAYER_INTERVAL_MS));
      }
      await Promise.all(pending);
    };
    await Promise.all([paying(), ...Array.from({ length: freeCallers }, freeCaller)]);
    const inTime = times.filter((ms) => ms <= IN_TIME_MS).length;
    times.sort((a, b) => a - b);
    return {
      "les.serve": Number(serve),
      "free callers": freeCallers,
      "paying calls": times.length,
      failed,
      "within 50 ms, %": Number(((100 * inTime) / times.length).toFixed(1)),
      "p99, ms": Math.round(times[Math.floor(times.length * 0.99)]!),
      "free calls served": free.served,
      "free calls rejected": free.rejected,
    };
  } finally {
    await node.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
