import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createWalletClient, http, type PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { inTurn, median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

/** The first account of the well-known development phrase. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
/** The first transactions of a process run code that is not optimised yet; the next ones do not. */
const WINDOWS = [
  { name: "first 500", count: 500 },
  { name: "next 500", count: 500 },
] as const;
const TRANSACTIONS = WINDOWS.reduce((sum, { count }) => sum + count, 0);
const ROUNDS = 3;
/** Bytes of a block of one transfer in the log, about. */
const RECORD_BYTES = 1_000;

/**
 * Transactions a second when each is sent only after the receipt of the one before is there. The time of as many syncs of a file that grows by as many
 * bytes, on the same disk at the same time, is the share that durability takes of ours.
 */
export async function run(): Promise<void> {
  const account = privateKeyToAccount(KEY);
  const measured: Measured[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const start of inTurn([startEvmint, startAnvil], round)) {
      const peer = await start();
      if (!peer) continue;
      try {
        const signed = await sign(account, peer, TRANSACTIONS);
        for (const { name, count } of WINDOWS) {
          measured.push(await measure(peer, name, signed.splice(0, count)));
        }
      } finally {
        await peer.stop();
      }
    }
  }
  const rows = WINDOWS.flatMap(({ name: window }) => {
    const of = (node: string, key: "rate" | "cpuMicros" | "syncShare") => {
      const values = measured.filter((each) => each.node === node && each.window === window);
      return values.length === 0 ? Number.NaN : median(values.map((each) => each[key]));
    };
    return [...new Set(measured.map(({ node }) => node))].map((node) => ({
      node,
      transactions: window,
      "tx/s": of(node, "rate"),
      "CPU us/tx": of(node, "cpuMicros"),
      "tx/s against anvil": of(node, "rate") / of("anvil", "rate"),
      "share of syncs": node === "evmint" ? of(node, "syncShare") : "-",
    }));
  });
  printTable(rows);
  writeResult("sequential-tx", rows);
}

type Measured = {
  readonly node: string;
  readonly window: string;
  /** Transactions a second. */
  readonly rate: number;
  readonly cpuMicros: number;
  readonly syncShare: number;
};

async function measure(peer: Peer, window: string, signed: readonly string[]): Promise<Measured> {
  const cpuBefore = peer.cpuSeconds();
  const begin = performance.now();
  for (const raw of signed) await sendAndWait(peer.port, raw);
  const seconds = (performance.now() - begin) / 1000;
  return {
    node: peer.name,
    window,
    rate: signed.length / seconds,
    cpuMicros: ((peer.cpuSeconds() - cpuBefore) * 1e6) / signed.length,
    syncShare: peer.name === "evmint" ? syncSeconds(signed.length) / seconds : 0,
  };
}

/** Seconds that `count` records take to be written and synced, one after the other. */
function syncSeconds(count: number): number {
  const folder = mkdtempSync(join(tmpdir(), "evmint-sync-"));
  const file = openSync(join(folder, "log"), "w");
  try {
    const begin = performance.now();
    for (let i = 0; i < count; i++) {
      writeSync(file, new Uint8Array(RECORD_BYTES));
      fdatasyncSync(file);
    }
    return (performance.now() - begin) / 1000;
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function sign(account: PrivateKeyAccount, peer: Peer, count: number): Promise<string[]> {
  const client = createWalletClient({ account, transport: http(`http://127.0.0.1:${peer.port}`) });
  const chainId = Number(await call<string>(peer.port, "eth_chainId", []));
  const signed: string[] = [];
  for (let nonce = 0; nonce < count; nonce++) {
    signed.push(
      await client.signTransaction({
        chain: null,
        chainId,
        type: "eip1559",
        nonce,
        gas: 21_000n,
        maxFeePerGas: 10n ** 10n,
        maxPriorityFeePerGas: 10n ** 9n,
        to: "0x00000000000000000000000000000000000000aa",
        value: 1n,
      }),
    );
  }
  return signed;
}

async function sendAndWait(port: number, raw: string): Promise<void> {
  const hash = await call<string>(port, "eth_sendRawTransaction", [raw]);
  while ((await call(port, "eth_getTransactionReceipt", [hash])) === null) {
    // Asked again at once: the time to the receipt is what is measured.
  }
}
