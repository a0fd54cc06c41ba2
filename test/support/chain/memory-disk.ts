import { openLogBlockStore } from "../../../src/chain/store/log-block-store.ts";
import type { LogBlockStoreOptions } from "../../../src/chain/store/store-options.ts";
import { createStateTrie } from "../../../src/evm/state/state-trie.ts";
import { createMemoryLogDirectory } from "../../../src/store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../../src/store/storage/memory-kv.ts";
import type { TrieNodeReader } from "../../../src/store/trie/node-store.ts";

export const createTrie = (nodes: TrieNodeReader) => createStateTrie(nodes, { cacheBytes: 200_000 });

/** A memory whose contents outlive the store, as a disk's do. */
export function createMemoryDisk() {
  const log = createMemoryLogDirectory();
  const index = createMemoryKv();
  const deferred: (() => void)[] = [];
  return {
    log,
    index,
    deferred,
    open: (options: Partial<LogBlockStoreOptions> = {}) => {
      deferred.length = 0;
      return openLogBlockStore({
        log,
        index,
        createTrie,
        defer: (work) => deferred.push(work),
        onPruningFailure(error) {
          throw error;
        },
        segmentBytesMax: 4_000,
        mergeLimits: {
          versionsMin: 40,
          nodeBytesMin: 20_000,
          blocksMin: 12,
          keysMax: 3,
          logs: { blocksMin: 7, postingsMin: 60, logBytesMin: 6_000, rowsMax: 5 },
        },
        ...options,
      });
    },
  };
}
