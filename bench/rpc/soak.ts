import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import { call, type Peer, startEvmint } from "../support/peers.ts";
import { type Holdings, ProcessProbe } from "../support/process-probe.ts";
import { printTable, writeResult } from "../support/report.ts";
import { BlockHashes, placeOf, RestlessClient, StayingClient } from "./soak-clients.ts";

const BLOCK_MS = 50;
const STAYING = 20;
const RESTLESS = 40;
const SAMPLES_MIN = 20;
const SAMPLE_MS_MAX = 60_000;

/** Init code that logs 8 KiB and then 32 bytes, so that a client that does not read is found out within seconds. */
const LOUD_CODE = "0x6120006000a060aa60206000a100";

type Sample = Holdings & { readonly second: number; readonly blocks: number };

/**
 * Twenty blocks a second, subscribers that stay, and clients that come, vanish, stall and come back. Those that stayed must have heard
 * of every block and every log once, in order. Memory and handles of the node, a process of its own, are looked at once a minute
 * after a garbage collection; the slopes are those of the second half.
 *
 *     npm run bench -- soak [seconds]
 */
export async function run([secondsText = "1200"]: readonly string[]): Promise<void> {
  const seconds = Number(secondsText);
  const [wsPort, inspectorPort] = [await freePort(), await freePort()];
  const wsUrl = `ws://127.0.0.1:${wsPort}`;
  const node = await startEvmint({
    runtimeArguments: [`--inspect=127.0.0.1:${inspectorPort}`, "--inspect-publish-uid=http"],
    extraArguments: [
      "--consensus.block-time",
      `${BLOCK_MS}ms`,
      "--json-rpc.ws-address",
      `127.0.0.1:${wsPort}`,
      // Caches are to be full long before the end, so that growth can be told from filling.
      "--cache.size",
      "4194304",
      "--log.level",
      "warn",
    ],
  });
  const probe = await ProcessProbe.open(node.pid, inspectorPort);
  const staying: StayingClient[] = [];
  const restless: RestlessClient[] = [];
  try {
    const hashes = new BlockHashes();
    for (let i = 0; i < STAYING; i++) {
      const address = i % 4 === 3 ? join(node.home, "evmint.ipc") : wsUrl;
      staying.push(await StayingClient.open(address, hashes));
    }
    const pollers = await Pollers.open(node);
    const before = await probe.holdings();
    for (let i = 0; i < RESTLESS; i++) restless.push(new RestlessClient(wsUrl, i));

    const first = (await headNumber(node)) + 1;
    const samples = await live(node, probe, { seconds, first, restless, pollers });
    for (const client of restless) client.leave();
    const last = await headNumber(node);
    await until(() => staying.every(({ heads }) => heads.at(-1)! > last));
    await pollers.poll();
    const after = await probe.holdings();

    const expected = await chainBetween(node, first, last, hashes);
    const polledHeads = pollers.blocks.map((hash) => hashes.numberOf(hash));
    for (const { heads, logs } of [...staying, { heads: polledHeads, logs: pollers.logs }]) {
      assertSame("heads", within(heads, first, last), expected.heads);
      assertSame("logs", within(logs, placeOf(first), placeOf(last + 1) - 1), expected.logs);
    }
    report(samples, {
      seconds,
      blocks: expected.heads.length,
      "logs heard by each": expected.logs.length,
      "subscribers that stayed": STAYING,
      "open files before they came": before.openFiles,
      "open files when they had gone": after.openFiles,
      "clients come and gone": restless.reduce((sum, { connections }) => sum + connections, 0),
      "did not read and were cut": restless.reduce((sum, { timesCut }) => sum + timesCut, 0),
    });
  } finally {
    for (const client of [...staying, ...restless]) client.leave();
    probe.close();
    await node.stop();
  }
}

/** Lets everybody act for `seconds`, and takes samples of the node meanwhile. */
async function live(
  node: Peer,
  probe: ProcessProbe,
  {
    seconds,
    first,
    restless,
    pollers,
  }: {
    readonly seconds: number;
    readonly first: number;
    readonly restless: readonly RestlessClient[];
    readonly pollers: Pollers;
  },
): Promise<Sample[]> {
  const [from] = await call<string[]>(node.port, "eth_accounts", []);
  const samples: Sample[] = [];
  const sampleMs = Math.min(SAMPLE_MS_MAX, (seconds * 1000) / SAMPLES_MIN);
  const begin = performance.now();
  const elapsed = () => performance.now() - begin;
  for (let tick = 0; elapsed() < seconds * 1000; tick++) {
    await call(node.port, "eth_sendTransaction", [{ from, data: LOUD_CODE, gas: "0x100000" }]);
    // Pending filters read from a list of the newest 20,000 transactions: it has to be full by half-time too.
    await call(node.port, "eth_sendTransaction", [{ from, to: from, gas: "0x5208" }]);
    restless[tick % RESTLESS]!.act();
    if (tick % 10 === 0) await pollers.poll();
    if (elapsed() >= (samples.length + 1) * sampleMs) {
      const sample = {
        second: Math.round(elapsed() / 1000),
        blocks: (await headNumber(node)) - first + 1,
        ...(await probe.holdings()),
      };
      samples.push(sample);
      printSample(sample, samples.length === 1);
    }
    await new Promise((done) => setTimeout(done, (tick + 1) * BLOCK_MS - elapsed()));
  }
  return samples;
}

/** Filters that are polled over HTTP. */
class Pollers {
  readonly blocks: string[] = [];
  readonly logs: number[] = [];
  readonly #node: Peer;
  readonly #blockFilter: string;
  readonly #logFilter: string;

  private constructor(node: Peer, blockFilter: string, logFilter: string) {
    this.#node = node;
    this.#blockFilter = blockFilter;
    this.#logFilter = logFilter;
  }

  static async open(node: Peer): Promise<Pollers> {
    return new Pollers(
      node,
      await call<string>(node.port, "eth_newBlockFilter", []),
      await call<string>(node.port, "eth_newFilter", [{}]),
    );
  }

  async poll(): Promise<void> {
    const changes = <T>(filter: string) => call<T[]>(this.#node.port, "eth_getFilterChanges", [filter]);
    this.blocks.push(...(await changes<string>(this.#blockFilter)));
    this.logs.push(...placesOf(await changes<LogPosition>(this.#logFilter)));
  }
}

type LogPosition = { readonly blockNumber: string; readonly logIndex: string };

function placesOf(logs: readonly LogPosition[]): number[] {
  return logs.map(({ blockNumber, logIndex }) => placeOf(Number(blockNumber), Number(logIndex)));
}

/** What the chain itself says now about the blocks that were told of. */
async function chainBetween(node: Peer, first: number, last: number, hashes: BlockHashes) {
  const heads: number[] = [];
  const logs: number[] = [];
  for (let number = first; number <= last; number++) {
    const quantity = `0x${number.toString(16)}`;
    const { hash } = await call<{ hash: string }>(node.port, "eth_getBlockByNumber", [quantity, false]);
    hashes.check(number, hash);
    heads.push(number);
    const found = await call<LogPosition[]>(node.port, "eth_getLogs", [{ blockHash: hash }]);
    logs.push(...placesOf(found));
  }
  return { heads, logs };
}

function within(told: readonly number[], first: number, last: number): number[] {
  return told.filter((entry) => entry >= first && entry <= last);
}

/** @throws Error when something was missed, told twice or out of order */
function assertSame(what: string, found: readonly number[], expected: readonly number[]): void {
  const at = expected.findIndex((entry, index) => entry !== found[index]);
  if (at < 0 && found.length === expected.length) return;
  throw new Error(`${what}: ${found.length} instead of ${expected.length}, first difference at ${at}`);
}

async function headNumber(node: Peer): Promise<number> {
  return Number(await call<string>(node.port, "eth_blockNumber", []));
}

async function until(isDone: () => boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!isDone()) {
    if (performance.now() > deadline) throw new Error("a subscriber that stayed fell silent");
    await new Promise((done) => setTimeout(done, 50));
  }
}

const MB = 2 ** 20;

/** One row of the table that grows while the soak runs. */
function rowOf(sample: Sample): Record<string, number> {
  const count = (kind: string) => sample.handles[kind] ?? 0;
  return {
    second: sample.second,
    blocks: sample.blocks,
    "heap MB": sample.heapBytes / MB,
    "external MB": sample.externalBytes / MB,
    "anonymous MB": sample.anonymousBytes / MB,
    "resident MB": sample.residentBytes / MB,
    "TCP sockets": count("TCPSocketWrap"),
    "IPC sockets": count("PipeWrap"),
    timers: count("Timeout"),
    handles: Object.values(sample.handles).reduce((sum, each) => sum + each, 0),
    "open files": sample.openFiles,
  };
}

function printSample(sample: Sample, isFirst: boolean): void {
  const row = rowOf(sample);
  const widths = Object.keys(row).map((column) => Math.max(column.length, 7));
  const line = (cells: readonly string[]) => cells.map((cell, index) => cell.padStart(widths[index]!)).join("  ");
  if (isFirst) console.log(line(Object.keys(row)));
  const isWhole = (value: number) => Number.isInteger(value);
  console.log(line(Object.values(row).map((value) => (isWhole(value) ? `${value}` : value.toFixed(2)))));
}

function report(samples: readonly Sample[], about: Readonly<Record<string, number>>): void {
  const half = samples.slice(Math.floor(samples.length / 2)).map(rowOf);
  const rows = Object.keys(rowOf(samples[0]!))
    .slice(2)
    .map((what) => {
      const points = half.map((row) => ({ x: row.second! / 3600, y: row[what]! }));
      const { mean, slope } = fit(points);
      return {
        "second half": what,
        mean,
        "slope an hour": slope,
        "% an hour": (slope / mean) * 100,
      };
    });
  printTable(rows);
  for (const [name, value] of Object.entries(about)) console.log(`${name.padEnd(30)} ${value}`);
  console.log("nobody who stayed missed anything or heard it twice");
  writeResult("soak", [about, ...rows, ...samples.map(rowOf)]);
}

/** The straight line with the least squares. */
function fit(points: readonly { readonly x: number; readonly y: number }[]) {
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const mean = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  const covariance = points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - mean), 0);
  const variance = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  return { mean, slope: variance === 0 ? 0 : covariance / variance };
}
