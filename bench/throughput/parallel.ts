/**
 * CPU of the chain's thread a transaction, with and without a thread that executes ahead: `npm run bench -- parallel [TRANSACTIONS] [BLOCKS]`.
 *
 * One process, stores on disk, no sockets. Each block is packed ahead in slices, as at an interval, and finished when all is packed or nothing more comes.
 * Submission is not counted. Blocks of both ways take turns, on chains of their own that have to end with the same hash.
 */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { type Hash, hashFromBigint } from "../../src/base/primitives/hash.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { deferOn } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { SPECULATION_LIMITS, Speculation, type SpeculationLane } from "../../src/evm/execution/parallel/speculation.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { SpeculationThreads } from "../../src/node/calls/speculation-threads.ts";
import { printTable, writeResult } from "../support/report.ts";
import { CACHE_BYTES, openBenchApplication, PROPOSER } from "./bench-application.ts";
import { hashingCode, hashingContractAt } from "./hashing-contract.ts";
import { genesisText, type Kind, type SignedTransaction, senderKeys, signAll, signEach } from "./workload.ts";

/** Blocks before the measured ones, in which the code is compiled. */
const WARM_UP_BLOCKS = 3;
/** Of an interval of a second: between two slices of packing, and of each. */
const PAUSE_MS = 31;
const SLICE_MS = 16;
const SENDERS = 100;
const CONTRACTS = 100;

const WORKER = hashingCode("61012c"); // PUSH2 300

type Workload = {
  readonly name: string;
  readonly sign: (keys: readonly Uint8Array[], count: number) => readonly SignedTransaction[];
  /** In place of the lanes' order. */
  readonly lanes?: (lanes: readonly SpeculationLane[]) => readonly SpeculationLane[];
  /** Speculation is judged by no block before. */
  readonly neverPauses?: boolean;
};

const signed = (kind: Kind) => (keys: readonly Uint8Array[], count: number) => signAll(kind, keys, count);

/** The thread executes the transactions of a message from the last to the first. */
const reversed = (lanes: readonly SpeculationLane[]) =>
  lanes.map(
    (lane): SpeculationLane =>
      ({ header, transactions }) =>
        lane({ header, transactions: transactions.toReversed() }),
  );

const WORKLOADS: readonly Workload[] = [
  { name: "swaps on two pools", sign: signed("swap") },
  { name: "one token", sign: signed("erc20") },
  { name: "independent contracts, 230,000 gas each", sign: signWork },
  { name: "plain transfers", sign: signed("transfer") },
  { name: "swaps, nearly all in conflict", sign: signed("swap"), lanes: reversed },
  { name: "the same, with every block tried", sign: signed("swap"), lanes: reversed, neverPauses: true },
];

function signWork(keys: readonly Uint8Array[], count: number): readonly SignedTransaction[] {
  return signEach(keys, count, (n) => ({
    to: hashingContractAt(n % CONTRACTS),
    value: 0n,
    gasLimit: 400_000n,
    data: EMPTY_BYTES,
  }));
}

export async function run([transactions = "1000", blocks = "10", only = ""]: readonly string[]): Promise<void> {
  const rows = [];
  for (const workload of WORKLOADS.filter(({ name }) => name.includes(only))) {
    rows.push(await measure(workload, Number(transactions), Number(blocks)));
  }
  printTable(rows);
  writeResult("parallel", rows, { transactions, blocks });
}

async function measure(workload: Workload, transactions: number, blocks: number) {
  const { judgedMin } = SPECULATION_LIMITS;
  if (workload.neverPauses) SPECULATION_LIMITS.judgedMin = Number.POSITIVE_INFINITY;
  try {
    return await compare(workload, transactions, blocks);
  } finally {
    SPECULATION_LIMITS.judgedMin = judgedMin;
  }
}

async function compare(workload: Workload, transactions: number, blocks: number) {
  const keys = senderKeys(SENDERS);
  const raws = workload.sign(keys, transactions * (blocks + WARM_UP_BLOCKS)).map(({ raw }) => hexToBytes(raw));
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const text = genesisWithWorkers(keys);
  const serial = openNode(join(directory, "serial"), text, undefined);
  const parallel = openNode(join(directory, "parallel"), text, workload);
  const total = { serial: { ...NOTHING }, parallel: { ...NOTHING } };
  try {
    for (let block = 0; block < blocks + WARM_UP_BLOCKS; block++) {
      const batch = raws.slice(block * transactions, (block + 1) * transactions);
      const first = block % 2 === 0 ? [serial, parallel] : [parallel, serial];
      for (const node of first) {
        const cost = await node.makeBlock(batch, block + 1);
        if (block < WARM_UP_BLOCKS) continue;
        const sum = node === serial ? total.serial : total.parallel;
        for (const part of Object.keys(cost) as (keyof Cost)[]) sum[part] += cost[part];
      }
      if (serial.head() !== parallel.head()) throw new Error(`block ${block + 1} differs`);
    }
  } finally {
    await parallel.close();
    await serial.close();
    rmSync(directory, { recursive: true, force: true });
  }
  const each = (cost: number) => cost / (transactions * blocks);
  const { applied, conflict, late } = parallel.outcomes;
  return {
    workload: workload.name,
    "serial us/tx": each(total.serial.executing),
    "parallel us/tx": each(total.parallel.executing),
    ratio: total.parallel.executing / total.serial.executing,
    "serial with commit": each(total.serial.whole),
    "parallel with commit": each(total.parallel.whole),
    "serial wall when due, ms": total.serial.due / blocks,
    "parallel wall when due, ms": total.parallel.due / blocks,
    applied,
    conflicts: conflict,
    late,
  };
}

/** Microseconds of the chain's thread, of packing and with all of a block's way; milliseconds from when the block is due until it is committed. */
type Cost = { executing: number; whole: number; due: number };
const NOTHING: Cost = { executing: 0, whole: 0, due: 0 };

function genesisWithWorkers(keys: readonly Uint8Array[]): string {
  const genesis = JSON.parse(genesisText(keys));
  for (let i = 0; i < CONTRACTS; i++) {
    genesis.alloc[hashingContractAt(i)] = { balance: "0x0", nonce: "0x1", code: `0x${WORKER}` };
  }
  genesis.timestamp = "0x65000000";
  return JSON.stringify(genesis);
}

function openNode(directory: string, text: string, workload: Workload | undefined) {
  const store = openDiskBlockStore({ directory, createTrie: createStateTrie, defer: deferOn(fatalTimers) });
  const outcomes = { applied: 0, conflict: 0, late: 0 };
  let threads: SpeculationThreads | undefined;
  const { genesis, chain, application } = openBenchApplication(store, text, {
    speculationOf({ genesisConfig }) {
      if (workload === undefined) return undefined;
      threads = new SpeculationThreads({
        count: 1,
        data: { store: store.followable!, cacheBytes: CACHE_BYTES, config: genesisConfig, compiles: false },
        compiler: undefined,
        onLost(error) {
          throw error;
        },
        onOutcome: () => {},
        timers: fatalTimers,
      });
      return new Speculation(workload.lanes?.(threads.lanes) ?? threads.lanes, (outcome, count) => {
        outcomes[outcome] += count;
      });
    },
  });
  return {
    outcomes,
    head: (): Hash => chain.head().block.hash,
    async makeBlock(batch: readonly Uint8Array[], height: number): Promise<Cost> {
      for (const raw of batch) application.checkTx(raw);
      const proposal = {
        height,
        time: { seconds: genesis.timestamp + height, nanos: 0 },
        proposer: PROPOSER,
        lastCommit: { round: 0, votes: [] },
        misbehavior: [],
        maxTxBytes: 2 ** 30,
      };
      const before = threadMicroseconds();
      while (application.prepareAhead(proposal, SLICE_MS)) await setTimeout(PAUSE_MS);
      const due = performance.now();
      const txs = application.prepareProposal(proposal);
      const executed = threadMicroseconds();
      if (txs.length !== batch.length + 1) throw new Error(`a block of ${txs.length - 1} transactions`);
      const input = { ...proposal, txs, consensusHash: hashFromBigint(BigInt(height)) };
      if (!application.processProposal(input)) throw new Error("the proposal is rejected");
      application.finalizeBlock(input);
      application.commit();
      const committed = threadMicroseconds();
      const cost = { executing: executed - before, whole: committed - before, due: performance.now() - due };
      // Merges and the collector have their turn outside of what is measured.
      await setTimeout(50);
      return cost;
    },
    async close() {
      await threads?.close();
      store.close();
    },
  };
}

/** CPU time of the main thread alone. */
function threadMicroseconds(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ")[0]) / 1000;
}
