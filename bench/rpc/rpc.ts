import { readFileSync } from "node:fs";
import { inTurn, load, median } from "../support/load.ts";
import { call, type Peer, startAnvil, startConstantServer, startEvmint, startGeth } from "../support/peers.ts";
import { printTable, updateResult } from "../support/report.ts";

const token = JSON.parse(readFileSync(new URL("../../test/contracts/Token.json", import.meta.url), "utf8")) as {
  readonly bytecode: string;
};

/** In the full block, as many on every node. */
const TRANSFERS = 200;
/** A new slot costs geth's dev chain, which has Amsterdam's rules, some 147,000 (EIP-8037). */
const TRANSFER_GAS = "0x40000";
/** Its default of 11.5 million has room for 78 of them. */
const GETH_BLOCK_GAS = 100_000_000;
const BATCH = 100;
const BLOCK_SECONDS = 4;
const WARM_UP_SECONDS = 0.5;
const WARM_UP_ROUNDS_MAX = 10;
/** Rounds in a row that cost no less than the cheapest before them, with `WARM_UP_NOISE`. */
const WARM_UP_STEADY_ROUNDS = 2;
const WARM_UP_NOISE = 0.95;

type Options = {
  readonly processes: readonly number[];
  readonly connections: readonly number[];
  readonly rounds: number;
  readonly seconds: number;
  readonly rows: RegExp;
  readonly floor: boolean;
};

type Run = { requests: number; cpu: number; p99: number };

/**
 * Requests a second, CPU microseconds a request and the 99th percentile of latency for everyday requests: evmint with none, one and two
 * processes for connections, anvil and geth, each measured in turn in every round. Rows that a run leaves out stay in the result file, so
 * that each of the three numbers of connections can be a run of less than three minutes.
 *
 * `--floor` measures servers that answer with a constant too: what `node:http` and a bare socket cost of every row.
 *
 *     npm run bench -- rpc [--processes 0,1,2] [--connections 1,8,64] [--rounds 3] [--seconds 0.5] [--rows PATTERN] [--floor]
 */
export async function run(args: readonly string[] = []): Promise<void> {
  const options = optionsOf(args);
  const peers = await startPeers(options);
  try {
    const bodies: Record<string, string>[] = [];
    for (const peer of peers) bodies.push(await prepare(peer));
    const rows = options.floor ? await measureFloor(options) : [];
    for (const row of Object.keys(bodies[0]!).filter((name) => options.rows.test(name))) {
      for (const [i, peer] of peers.entries()) await warmUp(peer, bodies[i]![row]!);
      for (const connections of options.connections) {
        const figures = await measure(peers, bodies, row, connections, options);
        rows.push(...figures);
      }
    }
    printTable(rows);
    updateResult("rpc", rows, (row) => `${row.request}, ${row.connections}, ${row.node}`);
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()));
  }
}

/** Servers that answer with a constant, in the columns of the other rows. */
async function measureFloor(options: Options) {
  const peers = [await startConstantServer("net"), await startConstantServer("http")];
  try {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_blockNumber" });
    const bodies = peers.map(() => ({ constant: body }));
    for (const peer of peers) await warmUp(peer, body);
    const rows = [];
    for (const connections of options.connections) {
      rows.push(...(await measure(peers, bodies, "constant", connections, options)));
    }
    return rows;
  } finally {
    await Promise.all(peers.map((peer) => peer.stop()));
  }
}

async function measure(
  peers: readonly Peer[],
  bodies: readonly Readonly<Record<string, string>>[],
  row: string,
  connections: number,
  { rounds, seconds }: Options,
) {
  const runs = peers.map(() => [] as Run[]);
  for (let round = 0; round < rounds; round++) {
    for (const [i, peer] of inTurn([...peers.entries()], round)) {
      const result = await load(peer, bodies[i]![row]!, { connections, seconds });
      runs[i]!.push({
        requests: result.requestsPerSecond,
        cpu: result.cpuMicrosecondsPerRequest,
        p99: result.p99Ms,
      });
    }
  }
  const figures = runs.map((list) => ({
    requests: median(list.map(({ requests }) => requests)),
    cpu: median(list.map(({ cpu }) => cpu)),
    p99: median(list.map(({ p99 }) => p99)),
  }));
  const of = (name: string) => figures[peers.findIndex((peer) => peer.name === name)];
  const [anvil, geth] = [of("anvil"), of("geth")];
  const ratio = (value: number, other: number | undefined) => (other === undefined ? "-" : value / other);
  return peers.map(({ name }, i) => {
    const { requests, cpu, p99 } = figures[i]!;
    return {
      request: row,
      connections,
      node: name,
      "req/s": requests,
      "CPU us": cpu,
      "p99 ms": p99,
      "req/s : anvil": ratio(requests, anvil?.requests),
      "CPU : anvil": ratio(cpu, anvil?.cpu),
      "req/s : geth": ratio(requests, geth?.requests),
    };
  });
}

/** Until code is compiled and caches are filled: until requests get no cheaper. */
async function warmUp(peer: Peer, body: string): Promise<void> {
  const options = { connections: 8, seconds: WARM_UP_SECONDS };
  let cheapest = Number.POSITIVE_INFINITY;
  let steady = 0;
  for (let round = 0; round < WARM_UP_ROUNDS_MAX && steady < WARM_UP_STEADY_ROUNDS; round++) {
    const { cpuMicrosecondsPerRequest: cost } = await load(peer, body, options);
    steady = cost < cheapest * WARM_UP_NOISE ? 0 : steady + 1;
    cheapest = Math.min(cheapest, cost);
  }
}

async function startPeers({ processes }: Options): Promise<readonly Peer[]> {
  const blocks = { blockTimeSeconds: BLOCK_SECONDS };
  const ours: Peer[] = [];
  for (const count of processes) {
    const extraArguments = ["--json-rpc.processes", String(count)];
    const node = await startEvmint({ ...blocks, extraArguments });
    ours.push({ ...node, name: `evmint ${count}` });
  }
  const geth = await startGeth({ ...blocks, extraArguments: ["--dev.gaslimit", String(GETH_BLOCK_GAS)] });
  const others = [await startAnvil(blocks), geth];
  return [...ours, ...others.filter((peer): peer is Peer => peer !== undefined)];
}

function optionsOf(args: readonly string[]): Options {
  const textOf = (name: string, fallback: string): string =>
    args[args.indexOf(`--${name}`) + 1 || args.length] ?? fallback;
  const listOf = (name: string, fallback: string) => textOf(name, fallback).split(",").map(Number);
  return {
    processes: listOf("processes", "0,1,2"),
    connections: listOf("connections", "1,8,64"),
    rounds: Number(textOf("rounds", "3")),
    seconds: Number(textOf("seconds", "0.5")),
    rows: new RegExp(textOf("rows", "")),
    floor: args.includes("--floor"),
  };
}

type Receipt = { readonly contractAddress: string; readonly blockNumber: string };

/** Deploys the token and fills a block with its transfers; the request bodies to measure with. */
async function prepare({ port, name }: Peer): Promise<Record<string, string>> {
  const [account = ""] = await call<string[]>(port, "eth_accounts", []);
  const word = (value: string | number) => value.toString(16).replace("0x", "").padStart(64, "0");
  const send = (transaction: object) => call<string>(port, "eth_sendTransaction", [{ from: account, ...transaction }]);

  const deployment = await send({ data: token.bytecode + word(10 ** 6), gas: "0x200000" });
  const { contractAddress } = await receipt(port, deployment);
  // All are sent in one interval, right after a block.
  await untilNextBlock(port);
  const hashes: string[] = [];
  for (let i = 0; i < TRANSFERS; i++) {
    const data = `0xa9059cbb${word(0x1000 + i)}${word(1)}`;
    hashes.push(await send({ to: contractAddress, data, gas: TRANSFER_GAS }));
  }
  const { blockNumber: full } = await receipt(port, hashes.at(-1)!);
  // A log for each transaction: all of them are in this block, and succeeded.
  const logs = await call<readonly unknown[]>(port, "eth_getLogs", [{ fromBlock: full, toBlock: full }]);
  if (logs.length !== TRANSFERS) throw new Error(`${name}: block ${full} has ${logs.length} of ${TRANSFERS} transfers`);
  console.log(`${name}: block ${full} has ${logs.length} transfers`);

  const request = (method: string, ...params: readonly unknown[]) => ({ method, params });
  const single = (body: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...body });
  const batch = (body: object) =>
    JSON.stringify(Array.from({ length: BATCH }, (_, id) => ({ jsonrpc: "2.0", id, ...body })));
  const balanceOf = { to: contractAddress, data: `0x70a08231${word(account)}` };
  const transfer = { from: account, to: contractAddress, data: `0xa9059cbb${word(7)}${word(1)}` };
  const blockNumber = request("eth_blockNumber");
  const tokenCall = request("eth_call", balanceOf, "latest");
  const blockRange = { fromBlock: full, toBlock: full, address: contractAddress };
  return {
    blockNumber: single(blockNumber),
    getBalance: single(request("eth_getBalance", account, "latest")),
    call: single(tokenCall),
    estimateGas: single(request("eth_estimateGas", transfer)),
    receipt: single(request("eth_getTransactionReceipt", hashes.at(-1))),
    "block full": single(request("eth_getBlockByNumber", full, true)),
    // Of one recipient: one log.
    "logs small": single(request("eth_getLogs", { ...blockRange, topics: [null, null, `0x${word(0x1000)}`] })),
    "logs large": single(request("eth_getLogs", { ...blockRange, fromBlock: "0x0" })),
    feeHistory: single(request("eth_feeHistory", "0x14", "latest", [25, 50, 75])),
    proof: single(request("eth_getProof", contractAddress, [`0x${word(0)}`], "latest")),
    "batch of 100 blockNumber": batch(blockNumber),
    "batch of 100 call": batch(tokenCall),
  };
}

async function untilNextBlock(port: number): Promise<void> {
  const number = () => call<string>(port, "eth_blockNumber", []);
  const before = await number();
  while ((await number()) === before) await new Promise((done) => setTimeout(done, 50));
}

async function receipt(port: number, hash: string): Promise<Receipt> {
  for (;;) {
    const found = await call<Receipt | null>(port, "eth_getTransactionReceipt", [hash]);
    if (found) return found;
    await new Promise((done) => setTimeout(done, 50));
  }
}
