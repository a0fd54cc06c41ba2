import assert from "node:assert/strict";
import { test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import type { Kv, KvWriter } from "../../store/storage/kv.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { META, TABLE, tableKey } from "../../store/storage/schema.ts";
import { readVarint } from "./index/block-rows.ts";
import { BULK_MERGE_LIMITS, type MergePacing } from "./index/index-merge.ts";
import { type LogBlockStore, openLogBlockStore } from "./log-block-store.ts";

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

/** Without a pause between blocks: the event loop never comes to rest. @param merge what differs */
function openStore(index: Kv, merge: { readonly keysMax: number; readonly pacing?: MergePacing }) {
  return openLogBlockStore({
    log: createMemoryLogDirectory(),
    index,
    createTrie: createStateTrie,
    defer() {},
    mergeLimits: {
      versionsMin: 100_000,
      nodeBytesMin: 100_000,
      blocksMin: 100_000,
      logs: { blocksMin: 100_000, postingsMin: 100_000, logBytesMin: 1 << 30, rowsMax: 5 },
      ...merge,
    },
  });
}

function metaRow(store: LogBlockStore, name: string): number {
  return readVarint(store.row(tableKey(TABLE.meta, Buffer.from(name, "latin1")))) ?? 0;
}

test("without a pause between blocks no block pays for many others", () => {
  const counted = countingKv();
  const store = openStore(counted.kv, { keysMax: 5 });
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
  assert.ok(metaRow(store, META.lastMerge) >= 5, "merges ended");
  store.close();
});

/** Of 400 blocks, the share after which a merge is under way, whose nodes are in memory beside those of the next one. */
function shareWhileMerging(pacing?: MergePacing): number {
  const store = openStore(createMemoryKv(), { keysMax: 50, ...(pacing && { pacing }) });
  const chain = new RandomChain(7, { accounts: 3_000, transactionsMax: 20 });
  let merging = 0;
  for (let i = 0; i < 400; i++) {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
    if (metaRow(store, META.mergingBlocks) > metaRow(store, META.checkpoint)) merging++;
  }
  assert.ok(metaRow(store, META.lastMerge) >= 5, "merges ended");
  store.close();
  return merging / 400;
}

test("merges of an import end early: what they write and what the next one will is not in memory at once for long", () => {
  const pacing = BULK_MERGE_LIMITS.pacing!;
  const [gentle, bulk] = [shareWhileMerging(), shareWhileMerging(pacing)];
  assert.ok(gentle > 0.5, `a merge is under way after ${gentle} of the blocks where none may pay for many others`);
  assert.ok(bulk < 1.5 / pacing.pace, `a merge is under way after ${bulk} of the blocks of an import`);
});
