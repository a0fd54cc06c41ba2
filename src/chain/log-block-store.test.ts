import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import type { Address } from "../primitives/address.ts";
import type { Hash } from "../primitives/hash.ts";
import { createMemoryState, type MemoryState } from "../state/memory-state.ts";
import { createStateTrie } from "../state/merkle-state-trie.ts";
import { createMemoryKv } from "../storage/memory-kv.ts";
import { createMemoryLogDirectory } from "../storage/memory-log-directory.ts";
import type { TrieNodeReader } from "../trie/node-store.ts";
import type { BlockRecord } from "./block-store.ts";
import {
  type LogBlockStore,
  type LogBlockStoreOptions,
  openLogBlockStore,
} from "./log-block-store.ts";
import { plain } from "./testing/plain.ts";
import { type RandomBlock, RandomChain } from "./testing/random-chain.ts";

const createTrie = (nodes: TrieNodeReader) =>
  createStateTrie(nodes, { cachedNodesMax: 1024, cachedKeysMax: 1024 });

/** A memory whose contents outlive the store, as a disk's do. */
function createDisk() {
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
        segmentBytesMax: 4_000,
        mergeLimits: { versionsMin: 40, blocksMin: 12, keysMax: 3 },
        ...options,
      });
    },
  };
}

/** Every block of a chain and every state of it, the simple way. */
class Model {
  readonly blocks: RandomBlock[] = [];
  readonly #addresses = new Set<Address>();
  readonly #slots = new Map<Address, Set<Hash>>();

  add(block: RandomBlock): void {
    this.blocks.push(block);
    for (const { address, storage } of block.record.changes.accounts) {
      this.#addresses.add(address);
      const slots = this.#slots.get(address) ?? new Set();
      this.#slots.set(address, slots);
      for (const slot of storage.keys()) slots.add(slot);
    }
  }

  assertEqual(store: LogBlockStore): void {
    assert.equal(store.head(), this.blocks.length === 0 ? undefined : this.blocks.length - 1);
    const state = createMemoryState();
    for (const [number, { record, nodes }] of this.blocks.entries()) {
      state.apply(record.changes);
      this.#assertBlock(store, number, record);
      this.#assertState(store, number, state);
      for (const { owner, path, hash, rlp } of nodes) {
        assert.ok(Buffer.compare(store.trieNodes.node(owner, path, hash)!, rlp) === 0);
      }
    }
    assert.equal(store.block(this.blocks.length), undefined);
    assert.deepEqual(store.check().faults, []);
  }

  #assertBlock(store: LogBlockStore, number: number, record: BlockRecord): void {
    const { changes, consensusData, ...executed } = record;
    const { block, senders, receipts } = store.block(number)!;
    assert.deepEqual(plain({ block, senders, receipts }), plain(executed));
    assert.deepEqual(plain(store.changes(number)), plain(changes));
    assert.deepEqual(plain(store.consensusData(number)), plain(consensusData));
    assert.equal(store.numberOf(record.block.hash), number);
    for (const [index, tx] of record.block.transactions.entries()) {
      assert.deepEqual(store.transaction(tx.hash), { number, index });
    }
  }

  #assertState(store: LogBlockStore, number: number, state: MemoryState): void {
    const stored = store.stateAt(number);
    for (const address of this.#addresses) {
      const account = state.account(address);
      assert.deepEqual(stored.account(address), account);
      if (account !== undefined) {
        assert.deepEqual(plain(stored.code(account.codeHash)), plain(state.code(account.codeHash)));
      }
      for (const slot of this.#slots.get(address)!) {
        assert.equal(stored.storage(address, slot), state.storage(address, slot));
      }
      assert.deepEqual(
        new Map(stored.storageEntries(address)),
        new Map(state.storageEntries(address)),
      );
    }
  }
}

describe("LogBlockStore", () => {
  test("gives back every block and every state of a chain", () => {
    const store = createDisk().open();
    const chain = new RandomChain(1);
    const model = new Model();
    for (let i = 0; i < 60; i++) {
      const block = chain.next();
      store.append(block.record, block.nodes);
      model.add(block);
    }
    model.assertEqual(store);
  });

  test("is equal to a naive list of states, whatever is appended, merged, rolled back and reopened", () => {
    const operation = fc.oneof(
      { weight: 6, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 6 }) }) },
      { weight: 4, arbitrary: fc.record({ merge: fc.integer({ min: 1, max: 8 }) }) },
      { weight: 1, arbitrary: fc.record({ rollback: fc.double({ min: 0, max: 1, noNaN: true }) }) },
      { weight: 2, arbitrary: fc.constant({ reopen: true as const }) },
      { weight: 1, arbitrary: fc.constant({ reindex: true as const }) },
    );
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 30 }), fc.nat(), (operations, seed) => {
        const disk = createDisk();
        let store = disk.open();
        let model = new Model();
        let chain = new RandomChain(seed);
        for (const step of operations) {
          if ("append" in step) {
            for (let i = 0; i < step.append; i++) {
              const block = chain.next();
              store.append(block.record, block.nodes);
              model.add(block);
            }
          } else if ("merge" in step) {
            for (let i = 0; i < step.merge; i++) disk.deferred.shift()?.();
          } else if ("reopen" in step) {
            store = disk.open();
          } else if ("reindex" in step) {
            disk.index.transaction((writer) => {
              for (const [key] of Array.from(writer.range({}))) writer.remove(key);
            });
            store = disk.open();
          } else if (model.blocks.length > 0) {
            const number = Math.floor(step.rollback * (model.blocks.length - 1));
            store.rollbackTo(number);
            // The chain branches here: the same blocks up to `number`, then others.
            const kept = model.blocks.slice(0, number + 1);
            model = new Model();
            for (const block of kept) model.add(block);
            chain = RandomChain.from(
              seed + operations.length,
              kept.map(({ record }) => record),
            );
          }
        }
        model.assertEqual(store);
        model.assertEqual(disk.open());
      }),
      { numRuns: 60 },
    );
  });
});
