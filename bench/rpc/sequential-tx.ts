import { createWalletClient, http, type PrivateKeyAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

/** The first account of the well-known development phrase. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const TRANSACTIONS = 500;
const ROUNDS = 3;

/** Transactions a second when each is sent only after the receipt of the one before is there. */
export async function run(): Promise<void> {
  const account = privateKeyToAccount(KEY);
  const rates: Record<string, number[]> = {};
  const cpu: Record<string, number[]> = {};
  for (let round = 0; round < ROUNDS; round++) {
    for (const start of [startEvmint, startAnvil]) {
      const peer = await start();
      if (!peer) continue;
      try {
        const signed = await sign(account, peer, TRANSACTIONS);
        const cpuBefore = peer.cpuSeconds();
        const begin = performance.now();
        for (const raw of signed) await sendAndWait(peer.port, raw);
        const seconds = (performance.now() - begin) / 1000;
        rates[peer.name] = [...(rates[peer.name] ?? []), TRANSACTIONS / seconds];
        cpu[peer.name] = [
          ...(cpu[peer.name] ?? []),
          ((peer.cpuSeconds() - cpuBefore) * 1e6) / TRANSACTIONS,
        ];
      } finally {
        await peer.stop();
      }
    }
  }
  const rows = Object.keys(rates).map((name) => ({
    node: name,
    "tx/s": median(rates[name]!),
    "CPU us/tx": median(cpu[name]!),
    "tx/s against anvil": rates["anvil"] ? median(rates[name]!) / median(rates["anvil"]) : "-",
  }));
  printTable(rows);
  writeResult("sequential-tx", rows);
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
