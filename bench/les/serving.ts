import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { clientIdOf } from "../../src/heritage/les/client-id.ts";
import { loadConfig } from "../../src/node/config/load.ts";
import { readJwtSecret } from "../../src/node/config/secrets.ts";
import { startNode } from "../../src/node/roles/start-node.ts";
import { signJwt } from "../../src/rpc/transport/auth/jwt.ts";
import { printTable, writeResult } from "../support/report.ts";
import { loopCall } from "./loop-call.ts";
import type { ClientsInput, ClientsOutput } from "./serving-clients.ts";

/** More than have room beside the paying client. */
const FREE_ADDRESSES = 40;
const IN_TIME_MS = 50;
/** Half a core for the paying client, 1.6 % for each of 18 others. */
const SERVE = "80";
const PAYER_CAPACITY = 500_000;
const WARM_UP_CALLS = 100;

type Row = { readonly serve: string; readonly workers?: string; readonly processes?: string };

/**
 * `npm run bench -- light-serving [SECONDS]`: 40 clients without balance ask for more than the machine can do, one with balance makes a call every
 * 20 ms. The part of the paying client's calls that are answered within 50 ms: without `les.serve`, and with it in each way to serve.
 */
export async function run([secondsText = "60"]: readonly string[]): Promise<void> {
  const seconds = Number(secondsText);
  const rows = [
    await measure({ serve: "0" }, Math.min(seconds, 15)),
    await measure({ serve: SERVE }, seconds),
    await measure({ serve: SERVE, workers: "0" }, seconds),
    await measure({ serve: SERVE, processes: "1" }, seconds),
  ];
  printTable(rows);
  writeResult("light-serving", rows, { seconds, freeAddresses: FREE_ADDRESSES });
}

async function measure({ serve, workers, processes = "0" }: Row, seconds: number) {
  const home = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const flags = {
    "json-rpc.address": "127.0.0.1:0",
    "json-rpc.ws-address": "127.0.0.1:0",
    "json-rpc.processes": processes,
    ...(workers && { "json-rpc.workers": workers }),
    "les.serve": serve,
  };
  const { config } = loadConfig({ home, dev: true, flags, environment: {} });
  const node = await startNode(config, SILENT_LOGGER);
  await node.processes?.ready();
  const clients = fork(new URL("serving-clients.ts", import.meta.url));
  try {
    const { url } = node.listeners.find(({ kind }) => kind === "http")!;
    const iat = Math.floor(Date.now() / 1000);
    const payerToken = signJwt({ exp: iat + 3600, sub: "payer" }, readJwtSecret(home));
    const id = clientIdOf("key", "payer");
    const control = (method: string, params: unknown[]) => node.provider.request({ method, params });
    await control("les_addBalance", [id, "0x7fffffffffffffff"]);
    // The payer connects, and the threads that execute calls start.
    for (let i = 0; i < WARM_UP_CALLS; i++) {
      if (i === 1 && serve !== "0") {
        await control("les_setClientParams", [[id], { capacity: PAYER_CAPACITY }]);
      }
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${payerToken}` },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_call", params: loopCall(0) }),
      });
      await response.text();
    }
    const input: ClientsInput = { url, payerToken, freeAddresses: FREE_ADDRESSES, seconds };
    clients.send(input);
    const [output] = (await once(clients, "message")) as [ClientsOutput];
    const info = (await control("les_serverInfo", [])) as Record<string, number>;
    const times = [...output.payerMs].sort((a, b) => a - b);
    const inTime = times.filter((ms) => ms <= IN_TIME_MS).length;
    return {
      "les.serve": Number(serve),
      workers: config.jsonRpc.workers,
      processes: Number(processes),
      "paying calls": times.length,
      failed: output.payerFailed,
      "within 50 ms, %": Number(((100 * inTime) / times.length).toFixed(1)),
      "p99, ms": Math.round(times[Math.floor(times.length * 0.99)]!),
      "free calls served a second": Number((output.freeServed / seconds).toFixed(1)),
      "free calls rejected a second": Number((output.freeRejected / seconds).toFixed(1)),
      "capacities of clients": info["totalConnectedCapacity"]!,
    };
  } finally {
    clients.kill();
    await node.stop();
    rmSync(home, { recursive: true, force: true });
  }
}
