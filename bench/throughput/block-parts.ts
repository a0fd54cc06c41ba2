/**
 * CPU of each part of a transaction's way, in microseconds a transaction: `npm run bench -- block-parts [TRANSFERS] [BLOCKS] [ACCOUNTS]`.
 *
 * One process, a store on disk, no sockets: blocks of TRANSFERS transfers from 100 senders to random ones of ACCOUNTS accounts.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Address } from "../../src/base/primitives/address.ts";
import { EMPTY_BYTES } from "../../src/base/primitives/bytes.ts";
import { hexToBytes } from "../../src/base/primitives/hex.ts";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { SILENT_LOGGER } from "../../src/base/telemetry/logger.ts";
import { encodeReceipt } from "../../src/base/types/receipt-codec.ts";
import { decodePooledTransaction } from "../../src/base/types/transaction/decode.ts";
import { recoverSender } from "../../src/base/types/transaction/sender.ts";
import type { BlockRecord } from "../../src/chain/block-store.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../src/chain/records/block-record.ts";
import { deferNothing, deferOn } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { journalPool } from "../../src/consensus/mempool/journaled-pool.ts";
import { Submissions } from "../../src/consensus/mempool/submission.ts";
import { SoloEngine } from "../../src/consensus/solo/solo-engine.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { openLogDirectory } from "../../src/store/storage/log/log-file.ts";
import { orderedTrieRoot } from "../../src/store/trie/ordered-trie-root.ts";
import { withCalls } from "../../test/support/consensus/test-application.ts";
import { printTable, writeResult } from "../support/report.ts";
import { openBenchApplication, PROPOSER } from "./bench-application.ts";
import { genesisText, senderKeys, signAll } from "./workload.ts";

const NONE: ReadonlySet<Address> = new Set();
/** Blocks before the measured ones, in which the code is compiled. */
const WARM_UP_BLOCKS = 2;

export async function run([transfers = "5000", blocks = "6", accounts = "100"]: readonly string[]): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  try {
    const parts = measure(directory, Number(transfers), Number(blocks), Number(accounts));
    const rows = [...parts].map(([part, microseconds]) => ({ part, "CPU us/tx": microseconds }));
    printTable(rows);
    writeResult("block-parts", rows, { transfers, blocks, accounts });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function measure(
  directory: string,
  transfers: number,
  blocks: number,
  accountCount: number,
): ReadonlyMap<string, number> {
  const keys = senderKeys(100);
  const signed = signAll("transfer", keys, transfers * blocks, accountCount);
  const raws = signed.map(({ raw }) => hexToBytes(raw));
  const parts = new Map<string, number>();
  let isMeasured = false;
  const timed = <T>(part: string, work: () => T): T => {
    const before = cpuMicroseconds();
    const result = work();
    if (isMeasured) parts.set(part, (parts.get(part) ?? 0) + cpuMicroseconds() - before);
    return result;
  };

  let step = 0;
  const storeDirectory = join(directory, "chain");
  const store = openDiskBlockStore({
    directory: storeDirectory,
    createTrie: createStateTrie,
    defer: deferOn(fatalTimers),
    failPoint(name) {
      if (!name.startsWith("append:")) return;
      const now = cpuMicroseconds();
      if (isMeasured && name !== "append:begin") {
        const part = `  append until ${name.slice(7)}`;
        parts.set(part, (parts.get(part) ?? 0) + now - step);
      }
      step = now;
    },
  });
  const { chain, mempool, application } = openBenchApplication(store, genesisText(keys), {
    onHead: (update) => timed("  pool's new head", update),
  });
  const journal = journalPool(mempool, { directory: openLogDirectory(join(directory, "pool")), log: SILENT_LOGGER });
  const engine = new SoloEngine(
    {
      blockTime: "manual",
      proposer: PROPOSER,
      onFatal: () => {},
      isTemporary: () => false,
      onStalled: () => {},
    },
    {
      application: withCalls(application, {
        prepareProposal: (proposal) => timed("pack, execute, seal", () => application.prepareProposal(proposal)),
        commit: () => timed("commit", () => application.commit()),
      }),
      onExecutable: () => () => {},
      executableCount: () => Number(mempool.counts().pending > 0),
      now: () => ({ seconds: Math.floor(Date.now() / 1000), nanos: 0 }),
      headTimestamp: () => chain.head().block.header.timestamp,
      timers: fatalTimers,
    },
  );
  const { submit } = new Submissions(
    { txFeeWeiMax: 0n, allowUnprotected: false },
    { pool: mempool, blobs: { verify: unused, prove: unused }, authorities: { recover: unused } },
  );

  for (let block = 0; block < blocks; block++) {
    isMeasured = block >= WARM_UP_BLOCKS;
    const batch = raws.slice(block * transfers, (block + 1) * transfers);
    timed("submit (all of the next three)", () => {
      for (const raw of batch) void submit(raw);
    });
    timed("one block (all that follows)", () => engine.produceBlock());
    const executed = chain.head();
    if (executed.block.transactions.length !== transfers) {
      throw new Error(`a block of ${executed.block.transactions.length} transactions`);
    }
    const decoded = timed("alone: decode a transaction", () => batch.map((raw) => decodePooledTransaction(raw).tx));
    timed("alone: recover its sender", () => decoded.map((tx) => recoverSender(tx)));
    timed("alone: transactions root", () => orderedTrieRoot(executed.block.transactions.map(({ raw }) => raw)));
    timed("alone: receipts root", () => orderedTrieRoot(executed.receipts.map(encodeReceipt)));
    const whole: BlockRecord = {
      ...executed,
      changes: store.changes(block + 1),
      consensusData: EMPTY_BYTES,
    };
    const payload = timed("alone: encode the record", () => encodeBlockRecord(whole, NONE));
    timed("alone: decode the record", () => decodeBlockRecord(payload));
  }
  journal.close();
  store.close();
  const measured = transfers * (blocks - WARM_UP_BLOCKS);
  const before = cpuMicroseconds();
  openDiskBlockStore({
    defer: deferNothing,
    directory: storeDirectory,
    createTrie: createStateTrie,
    reindex: true,
  }).close();
  const reindexing = (cpuMicroseconds() - before) / (transfers * blocks);
  return new Map([
    ...[...parts].map(([part, total]) => [part, total / measured] as const),
    ["reindex", reindexing] as const,
  ]);
}

function unused(): never {
  throw new Error("no blobs here");
}

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}
