import assert from "node:assert/strict";
import { test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import type { Kv } from "../../store/storage/kv.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import type { BlockRecord } from "../block-store.ts";
import { openLogBlockStore } from "./log-block-store.ts";

/** Loses the first commit of each transaction. */
function losingCommits(kv: Kv): { readonly kv: Kv; readonly lost: () => number } {
  let lost = 0;
  const losing: Kv = {
    get: (key) => kv.get(key),
    view: (key) => kv.view(key),
    range: (range) => kv.range(range),
    transaction(work) {
      const loss = new Error("lost");
      assert.throws(
        () =>
          kv.transaction((writer) => {
            work(writer);
            throw loss;
          }),
        loss,
      );
      lost++;
      return kv.transaction(work);
    },
    sync: () => kv.sync(),
    close: () => kv.close(),
  };
  return { kv: losing, lost: () => lost };
}

function rowsAfter(index: Kv): readonly string[] {
  const store = openLogBlockStore({
    log: createMemoryLogDirectory(),
    index,
    createTrie: createStateTrie,
    addressIndex: true,
    defer: () => {},
    retention: { blocks: 16, blocksMin: 1, sliceMs: 0 },
    mergeLimits: {
      versionsMin: 40,
      nodeBytesMin: 20_000,
      blocksMin: 12,
      keysMax: 3,
      sliceMs: Infinity,
      logs: { blocksMin: 7, postingsMin: 60, logBytesMin: 6_000, rowsMax: 5 },
    },
  });
  let chain = new RandomChain(7);
  const records: BlockRecord[] = [];
  for (let i = 0; i < 60; i++) {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
    records.push(record);
    store.mergeSome();
    // To their ends: how much a slice does depends on the clock.
    while (store.addressIndex.needsWork()) store.addressIndex.indexSome();
    while (store.pruneSome());
    if (i % 10 < 9) continue;
    // Once before the last checkpoint, once after it, once in the middle of a merge.
    records.length -= 4 + (i % 3) * 3;
    store.rollbackTo(records.length - 1);
    chain = RandomChain.from(i, records);
  }
  while (store.mergeSome());
  while (store.pruneSome());
  assert.ok(store.base()! > 0);
  assert.deepEqual(store.check().faults, []);
  return Array.from(index.range({}), ([key, value]) => `${bytesToHex(key)} ${bytesToHex(value)}`);
}

test("appends, merges, prunes and rollbacks whose first commit is lost write what others write", () => {
  const expected = rowsAfter(createMemoryKv());
  const { kv, lost } = losingCommits(createMemoryKv());
  assert.deepEqual(rowsAfter(kv), expected);
  assert.ok(lost() > 100);
});
