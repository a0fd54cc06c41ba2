import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesToHex } from "../../primitives/hex.ts";
import { createStateTrie } from "../../state/merkle-state-trie.ts";
import type { Kv } from "../../storage/kv.ts";
import { createMemoryKv } from "../../storage/memory-kv.ts";
import { createMemoryLogDirectory } from "../../storage/memory-log-directory.ts";
import { RandomChain } from "../testing/random-chain.ts";
import { openLogBlockStore } from "./log-block-store.ts";

/** Loses the first commit of each transaction that may be repeated. */
function losingCommits(kv: Kv): { readonly kv: Kv; readonly lost: () => number } {
  let lost = 0;
  const losing: Kv = {
    get: (key) => kv.get(key),
    view: (key) => kv.view(key),
    range: (range) => kv.range(range),
    transaction(work, isRepeatable) {
      if (isRepeatable) {
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
      }
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
    defer: () => {},
    retention: { blocks: 16, blocksMin: 4, sliceMs: 0 },
    mergeLimits: {
      ...{ versionsMin: 40, nodeBytesMin: 20_000, blocksMin: 12, keysMax: 3, sliceMs: Infinity },
      logs: { blocksMin: 7, postingsMin: 60, logBytesMin: 6_000, rowsMax: 5 },
    },
  });
  const chain = new RandomChain(7);
  for (let i = 0; i < 40; i++) {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
    store.mergeSome();
    store.pruneSome();
  }
  while (store.mergeSome());
  while (store.pruneSome());
  assert.equal(store.base(), 24);
  assert.deepEqual(store.check().faults, []);
  return Array.from(index.range({}), ([key, value]) => `${bytesToHex(key)} ${bytesToHex(value)}`);
}

test("appends, merges and prunes whose first commit is lost write what others write", () => {
  const expected = rowsAfter(createMemoryKv());
  const { kv, lost } = losingCommits(createMemoryKv());
  assert.deepEqual(rowsAfter(kv), expected);
  assert.ok(lost() > 100);
});
