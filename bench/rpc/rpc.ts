import { readFileSync } from "node:fs";
import { load, median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const token = JSON.parse(
  readFileSync(new URL("../../test/contracts/Token.json", import.meta.url), "utf8"),
) as { readonly bytecode: string };

const ROUNDS = 3;
const TRANSACTIONS = 200;

/** Requests a second and CPU a request for five everyday calls, evmint and anvil in turn. */
export async function run(): Promise<void> {
  const options = { blockTimeSeconds: 4 };
  const peers = [await startEvmint(options), await startAnvil(options)].filter(
    (peer): peer is Peer => peer !== undefined,
  );
  try {
    const bodies = await Promise.all(peers.map(prepare));
    const rows = [];
    for (const workload of Object.keys(bodies[0]!)) {
      const runs = peers.map(() => [] as { requests: number; cpu: number; p50: number }[]);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [i, peer] of peers.entries()) {
          const result = await load(peer, bodies[i]![workload]!);
          runs[i]!.push({
            requests: result.requestsPerSecond,
            cpu: result.cpuMicrosecondsPerRequest,
            p50: result.p50Ms,
          });
        }
      }
      const [ours, theirs] = runs.map((list) => ({
        requests: median(list.map((r) => r.requests)),
        cpu: median(list.map((r) => r.cpu)),
        p50: median(list.map((r) => r.p50)),
      }));
      rows.push({
        workload,
        "evmint req/s": ours!.requests,
        "anvil req/s": theirs?.requests ?? "-",
        "req/s ratio": theirs ? ours!.requests / theirs.requests : "-",
        "evmint CPU us": ours!.cpu,
        "anvil CPU us": theirs?.cpu ?? "-",
        "CPU ratio": theirs ? ours!.cpu / theirs.cpu : "-",
        "evmint p50 ms": ours!.p50,
      });
    }
    printTable(rows);
    writeResult("rpc", rows);
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()));
  }
}

/** Deploys the token and fills one block with transfers; the request bodies to measure with. */
async function prepare({ port, name }: Peer): Promise<Record<string, string>> {
  const [account = ""] = await call<string[]>(port, "eth_accounts", []);
  const word = (value: string | number) => value.toString(16).replace("0x", "").padStart(64, "0");
  const send = (transaction: object) =>
    call<string>(port, "eth_sendTransaction", [{ from: account, ...transaction }]);

  const deployment = await send({ data: token.bytecode + word(10 ** 6), gas: "0x200000" });
  const { contractAddress } = await receipt<{ contractAddress: string }>(port, deployment);
  const transfers: string[] = [];
  for (let i = 0; i < TRANSACTIONS; i++) {
    const to = `0x${(0x1000 + i).toString(16).padStart(40, "0")}`;
    transfers.push(await send({ to, value: "0x1", gas: "0x5208" }));
  }
  const blocks = new Map<string, number>();
  for (const hash of transfers) {
    const { blockNumber } = await receipt<{ blockNumber: string }>(port, hash);
    blocks.set(blockNumber, (blocks.get(blockNumber) ?? 0) + 1);
  }
  const [fullest = "0x0", count = 0] = [...blocks].sort((a, b) => b[1] - a[1])[0] ?? [];
  if (count < TRANSACTIONS) console.log(`${name}: fullest block has ${count} transactions`);

  const request = (method: string, params: readonly unknown[], id = 1) => ({
    jsonrpc: "2.0",
    id,
    method,
    params,
  });
  const balanceOf = `0x70a08231${word(account)}`;
  return {
    eth_blockNumber: JSON.stringify(request("eth_blockNumber", [])),
    eth_getBalance: JSON.stringify(request("eth_getBalance", [account, "latest"])),
    [`eth_getBlockByNumber full (${TRANSACTIONS} txs)`]: JSON.stringify(
      request("eth_getBlockByNumber", [fullest, true]),
    ),
    "eth_call balanceOf": JSON.stringify(
      request("eth_call", [{ to: contractAddress, data: balanceOf }, "latest"]),
    ),
    "batch of 100 eth_blockNumber": JSON.stringify(
      Array.from({ length: 100 }, (_, id) => request("eth_blockNumber", [], id)),
    ),
  };
}

async function receipt<T>(port: number, hash: string): Promise<T> {
  for (;;) {
    const found = await call<T | null>(port, "eth_getTransactionReceipt", [hash]);
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
}
