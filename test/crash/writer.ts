/**
 * Appends blocks to a store until it is killed, and says which ones are on disk to stay.
 *
 *     writer.ts DIRECTORY SEED KIND [FAIL_POINT HITS]
 *
 * With a fail-point it kills itself when it comes there for that time. Opening goes on where the last
 * life ended: the chain of a seed is always the same.
 */
import { writeSync } from "node:fs";
import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { deferOn } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";
import { RandomChain } from "../support/chain/random-chain.ts";
import { type HomeKind, storeOptions } from "./limits.ts";

/**
 * Only a life that never comes to its fail-point makes so many: background work takes turns by time, so a busy machine makes hundreds of blocks before old ones go.
 * A life without a fail-point goes on until it is killed, however late that is.
 */
const BLOCKS_MAX = 20_000;

const [directory, seed, kind, deadlyPoint, hits] = process.argv.slice(2);
let hitsLeft = Number(hits);

const store = openDiskBlockStore({
  directory: directory!,
  createTrie: createStateTrie,
  defer: deferOn(fatalTimers),
  ...storeOptions(kind as HomeKind),
  failPoint(name) {
    if (name === deadlyPoint && --hitsLeft === 0) process.kill(process.pid, "SIGKILL");
  },
});
const chain = new RandomChain(Number(seed));
const head = store.head() ?? -1;
writeSync(1, `open ${head}\n`);
for (let number = 0; number <= head; number++) chain.next();
for (let i = 0; deadlyPoint === undefined || i < BLOCKS_MAX; i++) {
  const { record, nodes } = chain.next();
  store.append(record, nodes);
  writeSync(1, `${record.block.header.number} ${record.block.hash}\n`);
  // Lets history merge between blocks.
  await new Promise((resolve) => setImmediate(resolve));
}
process.exitCode = 1;
