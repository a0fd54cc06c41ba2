import assert from "node:assert/strict";
import { test } from "node:test";
import { createStateTrie } from "../../state/state-trie.ts";
import type { Kv, KvWriter } from "../../storage/kv.ts";
import { createMemoryKv } from "../../storage/memory-kv.ts";
import { createMemoryLogDirectory } from "../../storage/memory-log-directory.ts";
import { META, TABLE, tableKey } from "../../storage/schema.ts";
import { RandomChain } from "../testing/random-chain.ts";
import { openLogBlockStore } from "./log-block-store.ts";

/** A store that counts the rows it is given. */
function countingKv(): { readonly kv: Kv; puts: number } {
  const counted = { kv: createMemoryKv(), puts: 0 };
  const { kv } = counted;
  const transaction = kv.transaction.bind(kv);
  kv.transaction = (work) =>
    transaction((writer) => {
      const counting: KvWriter = {
        get: (key) => writer.get(key),
        view: (key) => writer.view(key),
        range: (range) => writer.range(range),
        remove: (key) => writer.remove(key),
        put(key, value) {
          counted.puts++;
          writer.put(key, value);
        },
      };
      return work(counting);
    });
  return counted;
}

test("without a pause between blocks no block pays for many others", () => {
  const counted = countingKv();
  const keysMax = 5;
  const store = openLogBlockStore({
    log: createMemoryLogDirectory(),
    index: counted.kv,
    createTrie: createStateTrie,
    // The event loop never comes to rest.
    defer() {},
    mergeLimits: {
      versionsMin: 100_000,
      nodeBytesMin: 100_000,
      blocksMin: 100_000,
      keysMax,
      logs: { blocksMin: 100_000, postingsMin: 100_000, logBytesMin: 1 << 30, rowsMax: 5 },
    },
  });
  const chain = new RandomChain(7, { accounts: 3_000, transactionsMax: 20 });
  const rows: number[] = [];
  for (let i = 0; i < 400; i++) {
    const { record, nodes } = chain.next();
    const before = counted.puts;
    store.append(record, nodes);
    // By the size of the block: one has twenty transactions, another none.
    rows.push((counted.puts - before) / (10 + nodes.size));
  }
  rows.sort((a, b) => a - b);
  const [median, most] = [rows[200]!, rows[396]!];
  assert.ok(most <= 3 * median, `of 100 blocks one writes ${most} rows for a node, the median ${median}`);
  const merges = store.row(tableKey(TABLE.meta, Buffer.from(META.lastMerge, "latin1")));
  assert.ok(merges !== undefined && merges[0]! >= 5, "merges ended");
  store.close();
});
