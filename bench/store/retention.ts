import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { printTable, updateResult } from "../support/report.ts";
import { createTransferChain } from "./transfer-chain.ts";

const ACCOUNTS = 20_000;
const TRANSFERS = 200;
const RETAINED = 128;
const REPORT_EVERY = 500;

/**
 * `npm run bench -- retention [BLOCKS] [archive | pruned]`: sizes on disk while blocks of 200 transfers between 20,000 accounts are added, with 128 blocks of
 * each kind retained and with all of them, or one of the two; its rows replace those in the results.
 */
export async function run([blocksText = "2000", only]: readonly string[]): Promise<void> {
  const rows = [];
  for (const retained of [RETAINED, undefined]) {
    if (only !== undefined && only !== (retained === undefined ? "archive" : "pruned")) continue;
    const directory = mkdtempSync(join(tmpdir(), "evmint-bench-"));
    try {
      rows.push(...(await measure(directory, retained, Number(blocksText))));
    } finally {
      rmSync(directory, { recursive: true });
    }
  }
  printTable(rows);
  updateResult("retention", rows, (row) => `${row.retained} ${row.blocks}`);
}

async function measure(directory: string, retained: number | undefined, blocks: number) {
  let pending = 0;
  let longestMs = 0;
  const store = openDiskBlockStore({
    directory,
    createTrie: createStateTrie,
    ...(retained && { retention: { blocks: retained, states: retained, proofs: retained } }),
    defer(work) {
      pending++;
      setImmediate(() => {
        pending--;
        const start = performance.now();
        work();
        longestMs = Math.max(longestMs, performance.now() - start);
      });
    },
  });
  const chain = createTransferChain(ACCOUNTS, createStateTrie(store.trieNodes, {}));
  const genesis = chain.fund(0, ACCOUNTS);
  store.append(genesis.record, genesis.nodes);
  const rows = [];
  for (let number = 1; number <= blocks; number++) {
    const { record, nodes } = chain.transfers(TRANSFERS);
    store.append(record, nodes);
    while (pending > 0) await new Promise((resolve) => setImmediate(resolve));
    if (number % REPORT_EVERY !== 0) continue;
    rows.push({
      accounts: ACCOUNTS,
      retained: retained ?? "archive",
      blocks: number,
      ...sizesOf(directory),
      "longest pause ms": Math.round(longestMs),
    });
    longestMs = 0;
  }
  store.close();
  return rows;
}

function sizesOf(directory: string) {
  const log = join(directory, "log");
  const logBytes = readdirSync(log).reduce((sum, file) => sum + statSync(join(log, file)).size, 0);
  const indexBytes = statSync(join(directory, "index", "data.mdb")).blocks * 512;
  return {
    "log MB": Number((logBytes / 1e6).toFixed(1)),
    "index MB": Number((indexBytes / 1e6).toFixed(1)),
  };
}
