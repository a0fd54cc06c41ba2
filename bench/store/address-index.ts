import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deferNothing } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { printTable, writeResult } from "../support/report.ts";
import { addressOf, createTransferChain } from "./transfer-chain.ts";

const ACCOUNTS = 20_000;
const PAGES = 1_000;

/**
 * `npm run bench -- address-index [BLOCKS] [TRANSFERS]`: transactions that the index of addresses takes in a minute, built from a log, and
 * a page of the 25 newest transactions of an account that has one in each block.
 */
export async function run([blocksText = "100", transfersText = "1000"]: readonly string[]): Promise<void> {
  const [blocks, transfers] = [Number(blocksText), Number(transfersText)];
  const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
  const options = { directory, createTrie: createStateTrie, defer: deferNothing };
  try {
    let store = openDiskBlockStore(options);
    const chain = createTransferChain(ACCOUNTS, createStateTrie(store.trieNodes));
    const genesis = chain.genesis();
    store.append(genesis.record, genesis.nodes);
    for (let i = 0; i < blocks; i++) {
      const { record, nodes } = chain.transfers(transfers);
      store.append(record, nodes);
    }
    store.close();

    // Deferred work is run here, one slice after another, as an idle node does.
    store = openDiskBlockStore({ ...options, addressIndex: true });
    const { addressIndex } = store;
    const cpuBefore = process.cpuUsage();
    const begin = performance.now();
    let longest = 0;
    let longestOfCpu = 0;
    for (let isMore = true; isMore; ) {
      const sliceBegin = performance.now();
      const sliceCpu = process.cpuUsage();
      isMore = addressIndex.indexSome();
      longest = Math.max(longest, performance.now() - sliceBegin);
      longestOfCpu = Math.max(longestOfCpu, process.cpuUsage(sliceCpu).user / 1000);
    }
    const seconds = (performance.now() - begin) / 1000;
    const { user, system } = process.cpuUsage(cpuBefore);
    const cpuSeconds = (user + system) / 1e6;
    const pageBegin = performance.now();
    for (let i = 0; i < PAGES; i++) {
      addressIndex.search({
        address: addressOf(i % transfers),
        from: 0,
        to: blocks,
        order: "newestFirst",
        transactionsMin: 25,
      });
    }
    const pageMs = (performance.now() - pageBegin) / PAGES;
    const count = blocks * transfers;
    const rows = [
      { what: "transactions a minute", value: Math.round((count / seconds) * 60) },
      {
        what: "transactions a minute of processor time",
        value: Math.round((count / cpuSeconds) * 60),
      },
      { what: "longest slice, ms", value: Number(longest.toFixed(1)) },
      { what: "longest slice, ms of processor time", value: Number(longestOfCpu.toFixed(1)) },
      { what: "page of 25, ms", value: Number(pageMs.toFixed(3)) },
    ];
    printTable(rows);
    writeResult("address-index", rows, { blocks, transfers });
    store.close();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
