/**
 * A network of four validators on this machine: `npm run bench -- network load [TRANSFERS]` and `… network sync [TRANSFERS] [ACCOUNTS]`.
 *
 * `load`: intervals of empty blocks, TRANSFERS through all validators at once, and then through one, with the CPU of each node, by thread, and of its
 * CometBFT, the time from sending a transaction to the block that has it, and what sixteen validators could do by that (`costs.ts`). `sync`: a new node that fetches every block after TRANSFERS, and one that restores a snapshot of
 * ACCOUNTS accounts. `… network overload [RATE] [CORES]`: six validators that share CORES (0.8), and RATE transfers a second (600) for 40 s: intervals of
 * blocks, and whether all that was acknowledged is in blocks. Everything shares the cores of this machine with the programs that send.
 */
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually, Network, type NetworkNode, type NetworkOptions } from "../../test/network/network.ts";
import { printTable, writeResult } from "../support/report.ts";
import { sendTransactions } from "../throughput/send-transactions.ts";
import { genesisText, type SignedTransaction, senderKeys, signAll } from "../throughput/workload.ts";
import { type Cost, costOf, costsSince, meanOf, predictedRates, sharesOf } from "./costs.ts";
import { finalityTimes } from "./finality.ts";
import { offer, ProcessorShare } from "./overload.ts";

const VALIDATORS = 4;
/** As `start.sh` of `evmintd testnet` starts its nodes. */
const NODE_ARGS = ["--max-semi-space-size=64"];
const SENDERS = 1_000;
const CONNECTIONS_EACH = 4;
/** Transactions whose time to a block is measured, and how many of them are sent in a second. */
const TIMED = 200;
const TIMED_RATE = 10;
/** The rest of the transfers goes through one validator, which shows what accepting one costs. */
const SPREAD_SHARE = 2 / 3;
const PREDICTED_VALIDATORS = 16;
/** Blocks over which an interval is averaged. */
const IDLE_BLOCKS = 12;

type Row = { readonly figure: string; readonly value: number; readonly unit: string };

type Part = (genesis: string, transactions: readonly SignedTransaction[]) => Promise<readonly Row[]>;
const PARTS: Readonly<Record<string, Part>> = { load: underLoad, sync: joining };

const OVERLOADED_VALIDATORS = 6;
const OVERLOAD_SECONDS = 40;

export async function run([name = "load", ...args]: readonly string[]) {
  if (name === "overload") await runOverload(args);
  else await runPart(name, args);
}

async function runPart(name: string, [transfers = "12000", accounts = "20000"]: readonly string[]): Promise<void> {
  const part = PARTS[name];
  if (part === undefined) throw new Error(`parts: ${Object.keys(PARTS).join(", ")}`);
  const folder = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const genesis = join(folder, "genesis.json");
  const keys = senderKeys(SENDERS);
  writeFileSync(genesis, genesisText(keys, name === "sync" ? Number(accounts) : 0));
  try {
    const rows = await part(genesis, signAll("transfer", keys, Number(transfers) + TIMED));
    printTable(rows);
    const sizes = name === "sync" ? { transfers, accounts } : { transfers };
    writeResult(`network-${name}`, rows, { validators: VALIDATORS, ...sizes });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runOverload([rate = "600", cores = "0.8"]: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const genesis = join(folder, "genesis.json");
  const keys = senderKeys(SENDERS);
  writeFileSync(genesis, genesisText(keys));
  const transactions = signAll("transfer", keys, Number(rate) * OVERLOAD_SECONDS);
  const share = new ProcessorShare(Number(cores));
  try {
    const rows = await withNetwork({ genesis, blockTime: "1s", validators: OVERLOADED_VALIDATORS }, (network) =>
      overloaded(network, transactions, { rate: Number(rate), share }),
    );
    printTable(rows);
    writeResult("network-overload", rows, { validators: OVERLOADED_VALIDATORS, rate, cores });
  } finally {
    share.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function overloaded(
  { nodes }: Network,
  transactions: readonly SignedTransaction[],
  { rate, share }: { readonly rate: number; readonly share: ProcessorShare },
): Promise<readonly Row[]> {
  const [first] = nodes as [NetworkNode];
  for (const node of nodes) share.add(node.pids());
  const start = await heightOf(first);
  await reaches(first, start + 5);
  const { accepted, putOff } = await offer(nodes, transactions, { rate, seconds: OVERLOAD_SECONDS });
  const waited = performance.now();
  await includes(nodes, accepted.length, start);
  const drained = (performance.now() - waited) / 1_000;
  const times: number[] = [];
  const last = await heightOf(first);
  for (let height = start + 5; height <= last; height++) times.push(await first.engineTime(height));
  const intervals = times.slice(1).map((time, i) => time - times[i]!);
  intervals.sort((a, b) => a - b);
  const restarts = nodes.map((node) => node.log().match(/restarting the engine/g)?.length ?? 0);
  return [
    row("transfers offered", transactions.length, ""),
    row("transfers acknowledged, all in blocks", accepted.length, ""),
    row("answers that put off", putOff, ""),
    row("block interval, median", intervals[Math.floor(intervals.length / 2)]!, "ms"),
    row("block interval, longest", intervals.at(-1)!, "ms"),
    row("until the last one was in a block", drained, "s"),
    row(
      "restarts of engines",
      restarts.reduce((sum, each) => sum + each, 0),
      "",
    ),
  ];
}

async function underLoad(genesis: string, transactions: readonly SignedTransaction[]): Promise<readonly Row[]> {
  const fastest = await withNetwork({ genesis, blockTime: "100ms" }, ({ nodes }) => blockInterval(nodes[0]!, "100ms"));
  return withNetwork({ genesis, blockTime: "1s" }, async (network) => {
    const { nodes } = network;
    const idle = await blockInterval(nodes[0]!, "1s");
    const spread = transactions.slice(0, Math.floor((transactions.length - TIMED) * SPREAD_SHARE));
    const alone = transactions.slice(spread.length, -TIMED);
    const load = await sustained(network, spread, nodes);
    const one = await sustained(network, alone, nodes.slice(0, 1));
    const finality = await finalityTimes(nodes[1]!, transactions.slice(-TIMED), TIMED_RATE);
    const shares = sharesOf(one.costs);
    const { byMainThread, engineCores } = predictedRates(shares, PREDICTED_VALIDATORS, VALIDATORS);
    return [
      fastest,
      idle,
      ...load.rows,
      ...costRows("each transfer of the network", shares.every),
      ...costRows("each transfer of its own callers, besides", shares.accepting),
      row("time to finality, p50", finality.p50, "ms"),
      row("time to finality, p99", finality.p99, "ms"),
      row(`${PREDICTED_VALIDATORS} validators on machines of their own, by the main thread`, byMainThread, "tx/s"),
      row("cores that CometBFT takes then, at least", engineCores.least, ""),
      row("cores that CometBFT takes then, at most", engineCores.most, ""),
    ];
  });
}

function costRows(what: string, { main, others, engine }: Cost): readonly Row[] {
  return [
    row(`${what}: main thread of the node`, main, "us"),
    row(`${what}: its other threads`, others, "us"),
    row(`${what}: CometBFT`, engine, "us"),
  ];
}

function joining(genesis: string, transactions: readonly SignedTransaction[]): Promise<readonly Row[]> {
  const flags = ["--snapshot.interval", "20"];
  return withNetwork({ genesis, blockTime: "1s", flags }, async (network) => {
    await sustained(network, transactions, network.nodes);
    return [...(await blockSync(network)), ...(await stateSync(network))];
  });
}

/** `use` of the started validators, which are stopped after it. */
async function withNetwork<T>(
  { flags = [], ...options }: Omit<NetworkOptions, "validators"> & Partial<NetworkOptions>,
  use: (network: Network) => Promise<T>,
): Promise<T> {
  const network = await Network.create({
    validators: VALIDATORS,
    nodeArgs: NODE_ARGS,
    ...options,
    flags: ["--mempool.account-slots", "100000", ...flags],
  });
  try {
    for (const node of network.nodes) node.start();
    for (const node of network.nodes) await reaches(node, 2);
    return await use(network);
  } finally {
    await network.stop();
  }
}

/** Every transfer through `entries` at once, until the last one is in a block. */
async function sustained(
  { nodes }: Network,
  transactions: readonly SignedTransaction[],
  entries: readonly NetworkNode[],
): Promise<{ readonly rows: readonly Row[]; readonly costs: readonly Cost[] }> {
  const [first] = nodes as [NetworkNode];
  const before = nodes.map(costOf);
  const start = await heightOf(first);
  const begin = performance.now();
  const results = await Promise.all(
    entries.map(({ port }, index) =>
      sendTransactions(
        port,
        transactions.filter(({ sender }) => sender % entries.length === index),
        { connections: CONNECTIONS_EACH },
      ),
    ),
  );
  const sent = performance.now();
  for (const { rejected, firstRejection } of results) {
    if (rejected > 0) throw new Error(`${rejected} transactions rejected: ${firstRejection}`);
  }
  await includes(nodes, transactions.length, start);
  const end = performance.now();
  const costs = costsSince(before, nodes, transactions.length);
  const mean = meanOf(costs);
  const rows = [
    row("transfers sent", (transactions.length * 1000) / (sent - begin), "tx/s"),
    row("transfers in blocks", (transactions.length * 1000) / (end - begin), "tx/s"),
    row("CPU of the node, per transfer and validator", mean.main + mean.others, "us"),
    row("CPU of CometBFT, per transfer and validator", mean.engine, "us"),
    row("CPU of both, per transfer and validator", mean.main + mean.others + mean.engine, "us"),
  ];
  return { rows, costs };
}

/** Waits until the blocks after `start` have so many transactions on every node. */
async function includes(nodes: readonly NetworkNode[], count: number, start: number): Promise<void> {
  let included = 0;
  let next = start + 1;
  await eventually(`${count} transfers are in blocks`, async () => {
    for (const head = await heightOf(nodes[0]!); next <= head; next++) {
      included += await nodes[0]!.client.getBlockTransactionCount({ blockNumber: BigInt(next) });
    }
    return included >= count;
  });
  for (const node of nodes) await reaches(node, next - 1);
}

/** A new node that executes every block. */
async function blockSync(network: Network): Promise<readonly Row[]> {
  const [first] = network.nodes as [NetworkNode];
  const head = await heightOf(first);
  const gas = await gasUntil(first, head);
  const joined = await network.join([]);
  joined.start();
  await reaches(joined, 1);
  const begin = performance.now();
  await reaches(joined, head);
  const seconds = (performance.now() - begin) / 1000;
  await joined.stop();
  return [row("block sync", (head - 1) / seconds, "blocks/s"), row("block sync, gas", gas / 1e6 / seconds, "Mgas/s")];
}

/** A new node that restores a snapshot. */
async function stateSync(network: Network): Promise<readonly Row[]> {
  const [first] = network.nodes as [NetworkNode];
  const folder = join(first.home, "data/snapshots");
  await eventually("a snapshot", async () => newestIn(folder) !== undefined);
  // The light client needs two blocks beyond it.
  await reaches(first, (await heightOf(first)) + 3);
  // Of a snapshot that newer ones replace while this node is restored.
  const bytes = directoryBytes(join(folder, newestIn(folder)!));
  const trusted = await first.trusted(3);
  const joined = await network.join([
    "--cometbft.state-sync-servers",
    network.nodes
      .slice(0, 2)
      .map(({ engineRpc }) => engineRpc)
      .join(),
    "--cometbft.trust-block",
    `${trusted.height}:${trusted.hash}`,
  ]);
  const begin = performance.now();
  joined.start();
  await eventually("the snapshot is offered", async () => joined.log().includes("restoring a"));
  const offered = performance.now();
  await eventually("it answers", async () => (await heightOf(joined)) > 0);
  const seconds = (performance.now() - offered) / 1000;
  await joined.stop();
  return [
    row("state sync, snapshot found after", (offered - begin) / 1000, "s"),
    row("state sync, restored in", seconds, "s"),
    row("state sync", bytes / 2 ** 20 / seconds, "MiB/s"),
  ];
}

/** Name of the highest whole snapshot in `folder`: its height and the version of its format. */
function newestIn(folder: string): string | undefined {
  const names = readdirSync(folder).filter((name) => /^\d+-\d+$/.test(name));
  return names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)).at(-1);
}

function directoryBytes(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

async function blockInterval(node: NetworkNode, blockTime: string): Promise<Row> {
  const first = await heightOf(node);
  await reaches(node, first + IDLE_BLOCKS);
  const [from, to] = [await node.engineTime(first), await node.engineTime(first + IDLE_BLOCKS)];
  return row(`interval of empty blocks at ${blockTime}`, (to - from) / IDLE_BLOCKS, "ms");
}

async function gasUntil({ client }: NetworkNode, head: number): Promise<number> {
  let gas = 0;
  for (let number = 1; number <= head; number++) {
    gas += Number((await client.getBlock({ blockNumber: BigInt(number) })).gasUsed);
  }
  return gas;
}

async function heightOf({ client }: NetworkNode): Promise<number> {
  return Number(await client.getBlockNumber({ cacheTime: 0 }));
}

function reaches(node: NetworkNode, number: number): Promise<number> {
  return eventually(`block ${number}`, async () => (await heightOf(node)) >= number);
}

/** A figure, which is printed at once: the rest takes minutes. */
function row(figure: string, value: number, unit: string): Row {
  const made = { figure, value: Number(value.toPrecision(4)), unit };
  console.log(JSON.stringify(made));
  return made;
}
