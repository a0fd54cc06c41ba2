/**
 * Opens a store whose log has an old format, and kills itself when it reaches a fail-point for the given time.
 *
 *     migration-victim.ts DIRECTORY [FAIL_POINT HITS]
 */

import { fatalTimers } from "../../src/base/telemetry/fatal-timers.ts";
import { deferOn } from "../../src/chain/store/background-work.ts";
import { openDiskBlockStore } from "../../src/chain/store/open-block-store.ts";
import { createStateTrie } from "../../src/evm/state/state-trie.ts";

const [directory, deadlyPoint, hits] = process.argv.slice(2);
let hitsLeft = Number(hits);

const store = openDiskBlockStore({
  directory: directory!,
  createTrie: createStateTrie,
  defer: deferOn(fatalTimers),
  failPoint(name) {
    if (name === deadlyPoint && --hitsLeft === 0) process.kill(process.pid, "SIGKILL");
  },
});
store.close();
