import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hash } from "../../src/base/primitives/hash.ts";
import type { BlockStore } from "../../src/chain/block-store.ts";
import { decodeBlockRecord, encodeBlockRecord } from "../../src/chain/records/block-record.ts";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { createLocalChainView, type LocalChainModules } from "../../src/node/adapters/chain-view.ts";
import { getTransactionReceipt } from "../../src/rpc/methods/eth/transactions.ts";
import type { ServingPorts } from "../../src/rpc/methods/rpc-ports.ts";
import { inProcessContext } from "../../src/rpc/transport/dispatch/context.ts";
import { printTable, writeResult } from "../support/report.ts";
import { createTransferChain } from "./transfer-chain.ts";

/** More than the store keeps decoded. */
const BLOCKS = 60;
const ACCOUNTS = 20_000;
const READS = 20_000;

/**
 * `npm run bench -- block-reads [TRANSFERS]`: one receipt, header or hash of an old block of 2,000 transfers, against
 * decoding that block. Microseconds of the processor.
 */
export async function run([transfersText = "2000"]: readonly string[]): Promise<void> {
  const transfers = Number(transfersText);
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const store = openDiskBlockStore({ defer: deferNothing, directory, createTrie: createStateTrie });
  try {
    const chain = createTransferChain(ACCOUNTS, createStateTrie(store.trieNodes));
    let { record, nodes } = chain.genesis();
    store.append(record, nodes);
    for (let i = 0; i < BLOCKS; i++) {
      ({ record, nodes } = chain.transfers(transfers));
      store.append(record, nodes);
    }
    const payload = encodeBlockRecord(record, new Set());
    // The newest blocks are decoded already; these are not.
    const oldBlock = (i: number) => 1 + (i % 20);
    const hashes = Array.from({ length: 21 }, (_, number) =>
      store.block(number)!.block.transactions.map(({ hash }) => hash),
    );
    const hashOf = (number: number, index: number) => hashes[number]![index]!;
    const rpc = { chain: chainViewOf(store) } as ServingPorts;
    const context = inProcessContext();
    const rows = [
      {
        work: "one receipt with its transaction",
        micros: cpuEach(READS, (i) => store.transactionAt(oldBlock(i), (i * 7) % transfers)),
      },
      {
        work: "eth_getTransactionReceipt by hash, as JSON",
        micros: cpuEach(READS, (i) =>
          getTransactionReceipt.run(rpc, [hashOf(oldBlock(i), (i * 7) % transfers)], context),
        ),
      },
      { work: "one header", micros: cpuEach(READS, (i) => store.header(oldBlock(i))) },
      {
        work: "one of the last 256 hashes",
        micros: cpuEach(READS, (i) => store.blockHash(oldBlock(i))),
      },
      { work: "decode the block", micros: cpuEach(20, () => decodeBlockRecord(payload)) },
      { work: "encode the block", micros: cpuEach(40, () => encodeBlockRecord(record, new Set())) },
    ];
    printTable(rows);
    writeResult("block-reads", rows, { transfers, recordBytes: payload.length });
  } finally {
    store.close();
    rmSync(directory, { recursive: true });
  }
}

/** What `eth_getTransactionReceipt` reads of `store`, without a pool or a running chain. */
function chainViewOf(store: BlockStore) {
  const reader = {
    transactionPosition: (hash: Hash) => store.transactionPosition(hash),
    transactionAt: (number: number, index: number) => store.transactionAt(number, index),
    header: (number: number) => store.header(number),
  };
  return createLocalChainView({ reader } as unknown as LocalChainModules);
}

/** Microseconds of one call, in the mean of `count`. */
function cpuEach(count: number, work: (i: number) => unknown): number {
  for (let i = 0; i < Math.min(count, 2_000); i++) work(i);
  const start = process.cpuUsage();
  for (let i = 0; i < count; i++) work(i);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / count;
}
