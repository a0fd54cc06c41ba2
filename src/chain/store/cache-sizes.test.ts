import assert from "node:assert/strict";
import { test } from "node:test";
import { RandomChain } from "../../../test/support/chain/random-chain.ts";
import { EMPTY_CODE_HASH } from "../../base/types/constants.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { deferNothing } from "./background-work.ts";
import { CACHE_BYTES, divideCacheSize } from "./cache-sizes.ts";
import { createMemoryBlockStore } from "./open-block-store.ts";

test("the caches together are the budget, whatever its size", () => {
  for (const bytes of [0, 1, 99, 1_000_000, CACHE_BYTES, 2 ** 40]) {
    const parts = Object.values(divideCacheSize(bytes));
    const sum = parts.reduce((sum, part) => sum + part, 0);
    assert.ok(sum <= bytes && sum > bytes - parts.length, `${sum} of ${bytes}`);
  }
});

/** A store with a chain in it, of which everything was read. */
function readStore(cacheBytes: number) {
  const store = createMemoryBlockStore({
    defer: deferNothing,
    createTrie: createStateTrie,
    caches: divideCacheSize(cacheBytes),
  });
  const chain = new RandomChain(3, { accounts: 200, transactionsMax: 8 });
  for (let i = 0; i < 60; i++) {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
  }
  for (let number = 0; number < 60; number++) {
    const state = store.stateAt(number);
    for (const { address, storage } of store.changes(number).accounts) {
      const codeHash = state.account(address)?.codeHash ?? EMPTY_CODE_HASH;
      if (codeHash !== EMPTY_CODE_HASH) state.code(codeHash);
      for (const slot of storage.keys()) state.storage(address, slot);
    }
  }
  const taken = store.cacheBytes();
  store.close();
  return taken;
}

test("no cache of a store exceeds its part by more than its newest entry; each has a share of what was read", () => {
  const large = readStore(CACHE_BYTES);
  const budget = 100_000;
  const small = readStore(budget);
  const limits = divideCacheSize(budget);
  const newestEntry = { headState: 600, historicStates: 8 * 600, blocks: 30_000, codes: 0 };
  for (const name of ["headState", "historicStates", "blocks", "codes"] as const) {
    assert.ok(large[name] > 0, name);
    assert.ok(small[name] <= limits[name] + newestEntry[name], `${name}: ${small[name]}`);
  }
  assert.ok(large.blocks > small.blocks);
});
