import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryState } from "../../../../test/support/evm/state/memory-state.ts";
import { createMemoryNodes } from "../../../../test/support/store/trie/memory-nodes.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { type Hash, hashFromBigint } from "../../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import type { StateChanges } from "../../state/reader.ts";
import { createStateTrie } from "../../state/state-trie.ts";
import { createWorldState } from "../../state/world-state.ts";
import { TriePrefetch } from "./trie-prefetch.ts";

const addressOf = (n: number) => `0x${(n + 1).toString(16).padStart(40, "0")}` as Address;
const account = (balance: bigint) => ({ nonce: 1n, balance, codeHash: EMPTY_CODE_HASH });
const slotOf = (n: number) => hashFromBigint(BigInt(n));
const SLOTS = new Map(Array.from({ length: 200 }, (_, n) => [slotOf(n), 7n] as const));
const CONTRACT = addressOf(0);

/** 300 accounts, the first with 200 slots; every read of a node is counted. @param base of the state, which may know them */
function stored(base = createMemoryState(new Map())) {
  const nodes = createMemoryNodes();
  const changes: StateChanges = {
    accounts: Array.from({ length: 300 }, (_, n) => ({
      address: addressOf(n),
      account: account(1n),
      storage: n === 0 ? SLOTS : new Map<Hash, bigint>(),
      storageCleared: false,
    })),
    codes: new Map(),
  };
  const { root, nodes: batch } = createStateTrie(nodes).update(EMPTY_TRIE_ROOT, changes);
  nodes.keep(batch);
  let reads = 0;
  const reader: TrieNodeReader = {
    node(...place) {
      reads++;
      return nodes.node(...place);
    },
  };
  const trie = createStateTrie(reader);
  const state = createWorldState(base);
  const prefetch = new TriePrefetch(trie, root);
  const readsOf = (work: () => void) => {
    const before = reads;
    work();
    return reads - before;
  };
  return { trie, root, state, prefetch, readsOf };
}

test("after a prefetch the state root needs no node that is not in memory", () => {
  const { trie, root, state, prefetch, readsOf } = stored();
  for (let n = 0; n < 300; n += 7) state.setAccount(addressOf(n), account(2n));
  for (let n = 0; n < 200; n += 3) state.setStorage(CONTRACT, slotOf(n), 9n);
  assert.ok(readsOf(() => assert.equal(prefetch.run(state, Infinity), false)) > 43);
  assert.equal(
    readsOf(() => trie.update(root, state.changes())),
    0,
  );
});

test("a prefetch reads less where the state is known", () => {
  const reads = [new Map(), new Map([[CONTRACT, { balance: 1n, nonce: 1n, storage: SLOTS }]])].map((alloc) => {
    const { trie, root, state, prefetch, readsOf } = stored(createMemoryState(alloc));
    for (let n = 0; n < 200; n += 3) {
      state.storage(CONTRACT, slotOf(n));
      state.setStorage(CONTRACT, slotOf(n), 9n);
    }
    const count = readsOf(() => prefetch.run(state, Infinity));
    assert.equal(
      readsOf(() => trie.update(root, state.changes(), state.readOfBase())),
      0,
    );
    return count;
  });
  assert.ok(reads[0]! - reads[1]! >= 67, `${reads}`);
});

test("a prefetch that ends by its deadline goes on where it was, also with what was written since", () => {
  const { trie, root, state, prefetch, readsOf } = stored();
  for (let n = 0; n < 100; n++) state.setStorage(CONTRACT, slotOf(n), 9n);
  state.setAccount(CONTRACT, account(2n));
  let runs = 1;
  while (prefetch.run(state, -Infinity)) runs++;
  assert.equal(runs, 8);
  assert.equal(
    readsOf(() => prefetch.run(state, Infinity)),
    0,
  );
  state.setStorage(CONTRACT, slotOf(150), 9n);
  state.setAccount(addressOf(200), account(2n));
  prefetch.run(state, Infinity);
  assert.equal(
    readsOf(() => trie.update(root, state.changes())),
    0,
  );
});
