import assert from "node:assert/strict";
import { test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import type { Address } from "../../base/primitives/address.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { createMemoryLogDirectory } from "../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { deferNothing } from "./background-work.ts";
import { openLogBlockStore } from "./log-block-store.ts";

test("storageEntries has the slots of its block, whatever is written while its reader pauses between two", () => {
  // Merged at once: rows move from memory to the tables with each block.
  const mergeLimits = {
    versionsMin: 1,
    nodeBytesMin: 1,
    blocksMin: 1,
    keysMax: 10_000,
    logs: { blocksMin: 1, postingsMin: 1, logBytesMin: 1, rowsMax: 10_000 },
  };
  const store = openLogBlockStore({
    defer: deferNothing,
    log: createMemoryLogDirectory(),
    index: createMemoryKv(),
    mergeLimits,
    createTrie: createStateTrie,
  });
  const chain = new RandomChain(11);
  const addresses = new Set<Address>();
  let compared = 0;
  for (let number = 0; number < 60; number++) {
    const { record, nodes } = chain.next();
    for (const { address } of record.changes.accounts) addresses.add(address);
    // Of the newest block and of an older one, read in part before the next block and to the end after it.
    const reads = [...addresses].flatMap((address) =>
      [number - 1, number - 5]
        .filter((at) => at >= 0)
        .map((at) => {
          const state = store.stateAt(at);
          const expected = new Map(state.storageEntries(address));
          const paused = state.storageEntries(address)[Symbol.iterator]();
          return { expected, paused, first: paused.next() };
        }),
    );
    store.append(record, nodes);
    for (const { expected, paused, first } of reads) {
      const seen = first.done ? [] : [first.value];
      for (let next = paused.next(); !next.done; next = paused.next()) seen.push(next.value);
      assert.deepEqual(new Map(seen), expected);
      if (expected.size > 1) compared++;
    }
  }
  assert.ok(compared > 20, `${compared} accounts with storage`);
});
