import { readFileSync } from "node:fs";
import { inTurn, load, median } from "../support/load.ts";
import { call, type Peer, startAnvil, startEvmint } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";

const token = JSON.parse(readFileSync(new URL("../../test/contracts/Token.json", import.meta.url), "utf8")) as {
  readonly bytecode: string;
};

const TRANSFERS = 3_000;
const RECIPIENTS = 200;
const ROUNDS = 3;

/**
 * `eth_getLogs` over a chain of 3,000 blocks, each with one transfer of a token, evmint and anvil in turn.
 *
 *     npm run bench -- logs-peer
 */
export async function run(): Promise<void> {
  const peers = [await startEvmint({ extraArguments: ["--log.level", "warn"] }), await startAnvil()].filter(
    (peer): peer is Peer => peer !== undefined,
  );
  try {
    const bodies = [];
    for (const peer of peers) bodies.push(await prepare(peer));
    const rows = [];
    for (const query of Object.keys(bodies[0]!)) {
      const runs = peers.map(() => ({ rate: [] as number[], cpu: [] as number[] }));
      for (let round = 0; round < ROUNDS; round++) {
        for (const [i, peer] of inTurn([...peers.entries()], round)) {
          const result = await load(peer, bodies[i]![query]!, { connections: 4 });
          runs[i]!.rate.push(result.requestsPerSecond);
          runs[i]!.cpu.push(result.cpuMicrosecondsPerRequest);
        }
      }
      const [ours, theirs] = runs.map(({ rate, cpu }) => ({
        rate: median(rate),
        cpu: median(cpu),
      }));
      rows.push({
        query,
        "evmint req/s": ours!.rate,
        "anvil req/s": theirs?.rate ?? "-",
        "req/s ratio": theirs ? ours!.rate / theirs.rate : "-",
        "evmint CPU us": ours!.cpu,
        "anvil CPU us": theirs?.cpu ?? "-",
        "CPU ratio": theirs ? ours!.cpu / theirs.cpu : "-",
      });
    }
    printTable(rows);
    writeResult("logs-peer", rows);
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()));
  }
}

type Receipt = { readonly contractAddress: string; readonly blockNumber: string };

/** Deploys the token and makes a block of each transfer; the request bodies to measure with. */
async function prepare({ port, name }: Peer): Promise<Record<string, string>> {
  const [account = ""] = await call<string[]>(port, "eth_accounts", []);
  const word = (value: number) => value.toString(16).padStart(64, "0");
  const recipient = (i: number) => word(0x1000 + (i % RECIPIENTS));
  const send = (transaction: object) => call<string>(port, "eth_sendTransaction", [{ from: account, ...transaction }]);
  const receipt = async (hash: string) => {
    for (;;) {
      const found = await call<Receipt | null>(port, "eth_getTransactionReceipt", [hash]);
      if (found !== null) return found;
      await new Promise((done) => setTimeout(done, 2));
    }
  };

  const deployment = await send({ data: token.bytecode + word(10 ** 6), gas: "0x200000" });
  const { contractAddress: address, blockNumber: deployedIn } = await receipt(deployment);
  let last = deployment;
  for (let i = 0; i < TRANSFERS; i++) {
    last = await send({ to: address, data: `0xa9059cbb${recipient(i)}${word(1)}`, gas: "0x20000" });
    // anvil stops mining where much waits for it.
    if (i % 20 === 0) await receipt(last);
  }
  const { blockNumber: head } = await receipt(last);
  const range = {
    fromBlock: `0x${(Number(deployedIn) + 1).toString(16)}`,
    toBlock: head,
  };
  const filters = {
    [`all ${TRANSFERS} logs`]: { ...range, address },
    [`${TRANSFERS / RECIPIENTS} logs of one recipient`]: {
      ...range,
      address,
      topics: [null, null, `0x${recipient(7)}`],
    },
    "no log": { ...range, topics: [null, `0x${word(7)}`] },
    "newest block": {},
  };
  const counts = [];
  for (const filter of Object.values(filters)) {
    counts.push((await call<unknown[]>(port, "eth_getLogs", [filter])).length);
  }
  console.log(`${name}: ${Number(head)} blocks, answers with ${counts.join(", ")} logs`);
  return Object.fromEntries(
    Object.entries(filters).map(([query, filter]) => [
      query,
      JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_getLogs", params: [filter] }),
    ]),
  );
}
