/**
 * Transactions mined a second, and CPU for each: `npm run bench -- throughput [quick|full|LOAD] [evmint|"evmint 1"|"evmint rpc"|"evmint compiled"|anvil|geth …]`,
 * where LOAD is one load as JSON, such as `{"kind":"transfer","count":200000,"senders":1000,"blockTime":1}`.
 *
 * Every peer starts from the same genesis with a block gas limit of 500 million and gets the same signed transactions over 16
 * connections. A row counts only when every transaction sent is in a block. geth writes to disk as ours does; anvil has memory only.
 *
 * Rows of ours say in which thread and process the CPU went. For the first load it also measures ours with RPC processes on one core and on two, and
 * tells from the part that is serial, the chain's thread, what more cores would give (`scaling.ts`).
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, type Peer } from "../support/peers.ts";
import { printTable, writeResult } from "../support/report.ts";
import { threadMicroseconds, threadSecondsOf } from "../support/thread-times.ts";
import { type PeerName, startPeer } from "./peers.ts";
import { ASSUMED, pinToCores, predictionsOf, type Scaling, type ThreadBudget, threadBudgetOf } from "./scaling.ts";
import { sendTransactions } from "./send-transactions.ts";
import { genesisText, type Kind, type SignedTransaction, senderKeys, signAll } from "./workload.ts";

const CONNECTIONS = 16;
const POLL_MS = 100;
/** A peer that mines nothing for so long is stuck. */
const STUCK_MS = 30_000;

type Load = {
  readonly kind: Kind;
  readonly count: number;
  readonly senders: number;
  /** Seconds between blocks; 0: instant. */
  readonly blockTime: number;
  /** Transactions a second; undefined: as fast as they are answered. */
  readonly rate?: number;
};

/** Long enough that neither the first seconds of a process nor the wait for the last block decide. */
const QUICK: readonly Load[] = [
  { kind: "transfer", count: 60_000, senders: 300, blockTime: 1 },
  { kind: "transfer", count: 20_000, senders: 100, blockTime: 0 },
  { kind: "erc20", count: 60_000, senders: 300, blockTime: 1 },
  { kind: "swap", count: 30_000, senders: 150, blockTime: 1 },
];

const FULL: readonly Load[] = [
  ...QUICK,
  { kind: "transfer", count: 20_000, senders: 1_000, blockTime: 1 },
  { kind: "transfer", count: 20_000, senders: 100, blockTime: 1, rate: 2_000 },
  { kind: "transfer", count: 20_000, senders: 100, blockTime: 1, rate: 4_000 },
  { kind: "transfer", count: 20_000, senders: 100, blockTime: 0, rate: 2_000 },
  { kind: "transfer", count: 200_000, senders: 1_000, blockTime: 1 },
  { kind: "transfer", count: 200_000, senders: 1_000, blockTime: 0 },
  { kind: "erc20", count: 20_000, senders: 100, blockTime: 0 },
  { kind: "erc20", count: 200_000, senders: 1_000, blockTime: 1 },
];

const PEERS: readonly PeerName[] = ["evmint", "evmint 1", "evmint rpc", "evmint compiled", "anvil", "geth"];

/** Whose scaling is measured: a node with more than two cores has RPC processes. */
const SCALED: PeerName = "evmint rpc";
const MEASURED_CORES = [1, 2];

export async function run([set = "quick", ...names]: readonly string[]): Promise<void> {
  const peers = names.length === 0 ? PEERS : PEERS.filter((name) => names.includes(name));
  const rows: Row[] = [];
  const scaling: Scaling[] = [];
  for (const [index, load] of loadsOf(set).entries()) {
    const keys = senderKeys(load.senders);
    const transactions = signAll(load.kind, keys, load.count);
    const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
    const genesisFile = join(directory, "genesis.json");
    writeFileSync(genesisFile, genesisText(keys));
    try {
      for (const name of peers) {
        const row = await measure(name, genesisFile, load, transactions);
        if (row === undefined) continue;
        rows.push(row);
        console.log(JSON.stringify(row));
      }
      if (index === 0 && peers.includes(SCALED)) {
        for (const cores of MEASURED_CORES) {
          const row = await measure(SCALED, genesisFile, load, transactions, cores);
          if (row !== undefined) scaling.push({ load: row.load, cores, kind: "measured", "tx/s": row["tx/s"] });
        }
      }
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }
  printTable(rows.map((row) => ({ ...plainRow(row), ...ratiosOf(row, rows) })));
  const budgets = rows.flatMap(({ load, node, threads }) => (threads ? [{ load, node, ...threads }] : []));
  if (budgets.length > 0) {
    console.log("\nCPU of a transaction in us, by thread and process");
    printTable(budgets);
  }
  for (const { load, node, threads } of rows) {
    if (node === SCALED && threads !== undefined) scaling.push(...predictionsOf(load, threads));
  }
  if (scaling.length > 0) {
    console.log(`\nscaling of ${SCALED}; predicted: ${ASSUMED}`);
    printTable(scaling);
  }
  writeResult("throughput", rows, { scaling: { assumed: ASSUMED, rows: scaling } });
}

function loadsOf(set: string): readonly Load[] {
  if (set === "full") return FULL;
  return set === "quick" ? QUICK : [JSON.parse(set) as Load];
}

type Row = {
  readonly load: string;
  readonly node: PeerName;
  readonly mined: number;
  readonly lost: number;
  readonly "tx/s": number;
  readonly "sent/s": number;
  readonly "CPU us/tx": number;
  readonly "resident MB": number;
  /** Ours only: CPU us of a transaction. */
  readonly threads?: ThreadBudget;
};

async function measure(
  name: PeerName,
  genesisFile: string,
  load: Load,
  transactions: readonly SignedTransaction[],
  cores?: number,
): Promise<Row | undefined> {
  const peer = await startPeer(name, { genesisFile, blockTimeSeconds: load.blockTime });
  if (peer === undefined) return undefined;
  try {
    if (cores !== undefined) pinToCores(peer.pid, cores);
    const isOurs = name.startsWith("evmint");
    const threadsBefore = isOurs ? threadSecondsOf(peer.pid) : undefined;
    const cpuBefore = peer.cpuSeconds();
    const begin = performance.now();
    const sent = await sendTransactions(peer.port, transactions, {
      connections: CONNECTIONS,
      ...(load.rate !== undefined && { rate: load.rate }),
    });
    await untilMined(peer, transactions, sent.rejected);
    const seconds = (performance.now() - begin) / 1000;
    const cpu = peer.cpuSeconds() - cpuBefore;
    const threadsAfter = isOurs ? threadSecondsOf(peer.pid) : undefined;
    const residentBytes = peer.residentBytes();
    const mined = await minedHashes(peer);
    const lost = transactions.filter(({ hash }) => !mined.has(hash)).length;
    if (sent.firstRejection) console.log(`${name}: ${sent.rejected} × ${sent.firstRejection}`);
    return {
      load: titleOf(load),
      node: name,
      mined: mined.size,
      lost,
      "tx/s": Math.round(mined.size / seconds),
      "sent/s": Math.round(transactions.length / sent.seconds),
      "CPU us/tx": Math.round((cpu * 1e6) / mined.size),
      "resident MB": Math.round(residentBytes / 2 ** 20),
      ...(threadsBefore &&
        threadsAfter && { threads: threadBudgetOf(threadMicroseconds(threadsBefore, threadsAfter, mined.size)) }),
    };
  } finally {
    await peer.stop();
  }
}

/** Resolves once nothing is pending, or when no more blocks with transactions come: the rest is lost. */
async function untilMined({ port }: Peer, transactions: readonly SignedTransaction[], rejected: number): Promise<void> {
  let last = "";
  let changedAt = performance.now();
  for (;;) {
    const status = await call<{ pending: string; queued: string }>(port, "txpool_status", []);
    if (Number(status.pending) === 0 && Number(status.queued) === 0) return;
    const now = performance.now();
    const text = JSON.stringify(status);
    if (text !== last) {
      last = text;
      changedAt = now;
    }
    if (now - changedAt > STUCK_MS) {
      console.log(`stuck: ${text} of ${transactions.length}, ${rejected} rejected`);
      return;
    }
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
}

/** Hashes of the transactions of all blocks. */
async function minedHashes({ port }: Peer): Promise<ReadonlySet<string>> {
  const head = Number(await call<string>(port, "eth_blockNumber", []));
  const hashes = new Set<string>();
  for (let number = 1; number <= head; number++) {
    const quantity = `0x${number.toString(16)}`;
    const block = await call<{ transactions: string[] }>(port, "eth_getBlockByNumber", [quantity, false]);
    for (const hash of block.transactions) hashes.add(hash);
  }
  return hashes;
}

function titleOf({ kind, count, senders, blockTime, rate }: Load): string {
  const blocks = blockTime === 0 ? "instant" : `${blockTime} s`;
  return `${count} ${kind}, ${senders} senders, ${blocks}${rate ? `, ${rate}/s` : ""}`;
}

function plainRow({ threads: _threads, ...row }: Row): Omit<Row, "threads"> {
  return row;
}

/** CPU of the same load on each peer, over ours; of no meaning where transactions were lost. */
function ratiosOf(row: Row, rows: readonly Row[]): Record<string, number | string> {
  const ours = rows.find(({ load, node }) => load === row.load && node === "evmint");
  const isComparable = ours !== undefined && row.lost === 0;
  return { "CPU over evmint": isComparable ? row["CPU us/tx"] / ours["CPU us/tx"] : "-" };
}
