import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { eventually, Network, type NetworkNode } from "../../test/network/network.ts";
import { printTable, writeResult } from "../support/report.ts";
import { genesisText, type SignedTransaction, senderKeys, signAll } from "../throughput/workload.ts";
import { finalityTimes, intervalsOf, reaches } from "./finality.ts";

const VALIDATORS = 4;
const DELAYS_MS = [0, 20, 50, 100];
/** Share of lost pieces in a run more, and its delay. */
const LOSS = 0.01;
const LOSSY_MS = 50;
const RATE = 10;
const TIMED = 300;
/** Blocks over which the interval is measured. */
const BLOCKS = 30;
const PARTITION_MS = 60_000;
/** A partition has this delay. */
const PARTED_MS = 50;

/**
 * `npm run bench -- wan [DELAY …]`: four validators with blocks each second, whose connections go through proxies that deliver each byte so many milliseconds later: time
 * between blocks, and from sending a transfer to the block that has it; once more with a hundredth of the pieces lost, which arrive after TCP's retransmission. Then
 * partitions of a minute with 50 ms: time from the heal to the next block, and until every node is ready. A proxy has no slow start of TCP, and its partition ends
 * connections, where a network loses packets.
 */
export async function run(args: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const genesis = join(folder, "genesis.json");
  const keys = senderKeys(100);
  writeFileSync(genesis, genesisText(keys));
  try {
    const rows: Record<string, string | number>[] = [];
    const delays = (args.length === 0 ? DELAYS_MS : args.map(Number)).map((delay) => ({ delay, loss: 0 }));
    for (const { delay, loss } of [...delays, { delay: LOSSY_MS, loss: LOSS }]) {
      const transfers = signAll("transfer", keys, TIMED);
      const times = await withDelay(genesis, delay, (network) => timesOf(network, transfers), loss);
      rows.push({ "lost %": loss * 100, ...times });
      console.error(rows.at(-1));
    }
    printTable(rows);
    const parted: Record<string, string | number>[] = [];
    for (const size of [1, 2]) {
      parted.push(await withDelay(genesis, PARTED_MS, (network) => healOf(network, size)));
      console.error(parted.at(-1));
    }
    printTable(parted);
    writeResult("wan", [...rows, ...parted], { validators: VALIDATORS });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

type Row = Readonly<Record<string, string | number>>;

async function withDelay(genesis: string, delay: number, use: (network: Network) => Promise<Row>, loss = 0) {
  const network = await Network.create({ validators: VALIDATORS, genesis, blockTime: "1s" });
  try {
    network.delay(delay, loss);
    await network.linkNodes((from, to) => from < to);
    for (const node of network.nodes) node.start();
    for (const node of network.nodes) await reaches(node, 5);
    return { "one way ms": delay, ...(await use(network)) };
  } finally {
    await network.stop();
  }
}

async function timesOf({ nodes }: Network, transfers: readonly SignedTransaction[]): Promise<Row> {
  const [first, second] = nodes as [NetworkNode, NetworkNode];
  const { p50, p99 } = await finalityTimes(second, transfers, RATE);
  return {
    ...(await intervalsOf(first, BLOCKS)),
    "to the block p50 ms": p50,
    "to the block p99 ms": p99,
  };
}

async function healOf(network: Network, size: number): Promise<Row> {
  const { nodes } = network;
  const group = nodes.slice(0, size);
  const rest = nodes.slice(size);
  const start = await rest[0]!.height();
  const heal = network.part(group);
  await setTimeout(PARTITION_MS);
  const head = await rest[0]!.height();
  heal();
  const next = await eventually("a block of all", async () => (await group[0]!.height()) > head);
  const ready = await eventually("all are ready", async () => {
    const problems = await Promise.all(nodes.map((node) => node.problem()));
    return problems.every((problem) => problem === undefined);
  });
  return {
    partition: `${size}:${VALIDATORS - size}`,
    "blocks meanwhile": head - start,
    "to the next block s": next / 1000,
    "until all are ready s": (next + ready) / 1000,
  };
}
