import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { plain } from "../../../../test/support/chain/plain.ts";
import { type RandomBlock, RandomChain } from "../../../../test/support/chain/random-chain.ts";
import fc from "../../../../test/support/fast-check.ts";
import { createStateTrie } from "../../../evm/state/state-trie.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import type { BlockRecord } from "../../block-store.ts";
import { createChainStateTrie } from "../../chain-state-trie.ts";
import { LogFilter } from "../../logs/log-filter.ts";
import { deferNothing } from "../background-work.ts";
import { CACHE_BYTES, type CacheSizes, divideCacheSize, followerCacheSizes } from "../cache-sizes.ts";
import type { LogBlockStore } from "../log-block-store.ts";
import { openDiskBlockStore } from "../open-block-store.ts";
import { PublishedHead } from "./published-head.ts";
import { StoreFollower } from "./store-follower.ts";

const createTrie = (nodes: TrieNodeReader) => createStateTrie(nodes, { cacheBytes: 200_000 });

const RETENTION = { blocks: 14, states: 9, proofs: 5, blocksMin: 2, sliceMs: 0 };

/** Everything that a follower says of block `number` and the state after it is what the store says. */
function assertEqualAt(follower: StoreFollower, store: LogBlockStore, number: number): void {
  const expected = store.block(number)!;
  const { block, senders, receipts } = follower.block(number)!;
  assert.deepEqual(
    plain({ block, senders, receipts }),
    plain({ block: expected.block, senders: expected.senders, receipts: expected.receipts }),
  );
  assert.equal(follower.blockHash(number), block.hash);
  assert.equal(follower.numberOf(block.hash), number);
  for (const [index, { hash }] of block.transactions.entries()) {
    assert.deepEqual(follower.transactionPosition(hash), { number, index });
  }
  if (number < store.stateBase()) {
    // What it has read of the newest state that it knows stays readable.
    if (number === follower.head()) return;
    assert.throws(() => follower.stateAt(number), { code: "BLOCK_STATE_PRUNED" });
    return;
  }
  const state = follower.stateAt(number);
  const expectedState = store.stateAt(number);
  for (let n = store.base()!; n <= number; n++) {
    for (const { address, storage } of store.changes(n).accounts) {
      assert.deepEqual(state.account(address), expectedState.account(address));
      for (const slot of storage.keys()) {
        assert.equal(state.storage(address, slot), expectedState.storage(address, slot));
      }
      assert.deepEqual(new Map(state.storageEntries(address)), new Map(expectedState.storageEntries(address)));
    }
  }
}

/** The follower can compute the next block's root, so it has every trie node of `number`. */
function assertTrieAt(follower: StoreFollower, store: LogBlockStore, next: RandomBlock): void {
  const { block, changes } = next.record;
  const number = block.header.number - 1;
  const { stateRoot } = store.block(number)!.block.header;
  const { root } = createChainStateTrie(follower).update(stateRoot, changes);
  assert.equal(root, block.header.stateRoot);
}

/** Both find the same logs up to the follower's head, of everything and of each address and first topic. */
function assertLogs(follower: StoreFollower, store: LogBlockStore): void {
  const head = follower.head();
  const filters = [new LogFilter({})];
  const base = store.base()!;
  if (base > 0) {
    assert.throws(() => follower.logs.candidates(filters[0]!, 0, head), { code: "BLOCK_PRUNED" });
  }
  for (let number = base; number <= head; number++) {
    for (const { address, topics } of store.block(number)!.receipts.flatMap(({ logs }) => logs)) {
      filters.push(new LogFilter({ addresses: [address] }));
      if (topics[0]) filters.push(new LogFilter({ topics: [[topics[0]]] }));
    }
  }
  for (const filter of filters.slice(0, 20)) {
    const found = follower.logs.candidates(filter, base, head);
    assert.deepEqual([...found], [...store.logs.candidates(filter, base, head)]);
    for (const number of found) {
      assert.deepEqual(plain(follower.logs.logsOf(number)), plain(store.logs.logsOf(number)));
    }
  }
}

describe("StoreFollower", () => {
  const operation = fc.oneof(
    { weight: 6, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 6 }) }) },
    { weight: 4, arbitrary: fc.record({ merge: fc.integer({ min: 1, max: 8 }) }) },
    { weight: 1, arbitrary: fc.record({ rollback: fc.double({ min: 0, max: 1, noNaN: true }) }) },
    { weight: 4, arbitrary: fc.constant({ catchUp: true as const }) },
    { weight: 1, arbitrary: fc.constant({ reopen: true as const }) },
  );

  test("reads what the store holds, whatever is appended, merged and rolled back meanwhile", () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 30 }), fc.nat(), (operations, seed) => {
        const directory = mkdtempSync(join(tmpdir(), "follower-"));
        const deferred: (() => void)[] = [];
        const store = openDiskBlockStore({
          directory,
          createTrie,
          defer: (work) => deferred.push(work),
          ...(seed % 3 !== 0 && { retention: RETENTION }),
          bufferLimits: { rowsMax: 60, bytesMax: 100_000, sliceRows: 20 },
          segmentBytesMax: 4_096,
          mergeLimits: {
            versionsMin: 20,
            nodeBytesMin: 4_000,
            blocksMin: 5,
            keysMax: 7,
            logs: { blocksMin: 5, postingsMin: 50, logBytesMin: 4_000, rowsMax: 5 },
          },
        });
        let chain = new RandomChain(seed);
        let rollbacks = 0;
        let next = chain.next();
        const records: BlockRecord[] = [];
        const append = () => {
          store.append(next.record, next.nodes);
          records.push(next.record);
          next = chain.next();
        };
        append();
        // As a process follows, and as a thread does.
        const head = seed % 2 === 0 ? join(directory, "head") : store.followable!.head;
        if (typeof head === "string") store.publishToFile(head, assert.ifError);
        const open = () => new StoreFollower({ directory, head, createTrie });
        let follower = open();
        let isStale = false;
        try {
          for (const step of operations) {
            if ("append" in step) {
              for (let i = 0; i < step.append; i++) append();
            } else if ("merge" in step) {
              for (let i = 0; i < step.merge; i++) deferred.shift()?.();
            } else if ("reopen" in step) {
              follower.close();
              follower = open();
              isStale = false;
            } else if ("catchUp" in step) {
              follower.catchUp();
              isStale = false;
              assert.equal(follower.head(), store.head());
              assertTrieAt(follower, store, next);
            } else {
              const first = store.proofBase();
              const number = first + Math.floor(step.rollback * (store.head()! - first));
              isStale ||= number < store.head()!;
              records.length = number + 1;
              store.rollbackTo(number);
              chain = RandomChain.from(seed + ++rollbacks, records);
              next = chain.next();
            }
            // Until it hears of a rollback it may read blocks that are gone; of everything else it reads the truth.
            if (isStale) continue;
            for (let n = 0; n < follower.base(); n++) {
              assert.throws(() => follower.block(n), { code: "BLOCK_PRUNED" });
            }
            for (let n = store.base()!; n <= follower.head(); n++) {
              assertEqualAt(follower, store, n);
            }
            if (follower.head() >= store.base()!) assertLogs(follower, store);
            assert.equal(follower.block(follower.head() + 1), undefined);
          }
        } finally {
          follower.close();
          store.close();
          rmSync(directory, { recursive: true, force: true });
        }
      }),
      { numRuns: 25 },
    );
  });

  test("what is read while blocks are removed is read again, once they are", (t) => {
    const directory = mkdtempSync(join(tmpdir(), "follower-"));
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    let isReadStale: boolean | undefined;
    const store: LogBlockStore = openDiskBlockStore({
      defer: deferNothing,
      directory,
      createTrie,
      failPoint(name) {
        if (name !== "rollback:log") return;
        // The rows of the block are gone, and the rollback is not published.
        follower.header(4);
        isReadStale = follower.isStale();
      },
    });
    const chain = new RandomChain(3);
    const blocks = Array.from({ length: 5 }, () => chain.next());
    for (const { record, nodes } of blocks) store.append(record, nodes);
    const last = blocks.at(-1)!.record.block.hash;
    const { head } = store.followable!;
    const published = new PublishedHead(head as SharedArrayBuffer);
    let pauses = 0;
    const follower = new StoreFollower({
      directory,
      head,
      createTrie,
      pause() {
        pauses++;
        const position = published.read();
        published.publish({ ...position, epoch: position.epoch + 1 });
      },
    });
    follower.catchUp();
    assert.equal(follower.numberOf(last), 4);
    const epochs = () => [store.logs.epoch?.(), follower.logs.epoch?.()];
    const [epoch] = epochs();
    assert.deepEqual(epochs(), [epoch, epoch]);
    store.rollbackTo(2);
    assert.equal(isReadStale, true);
    assert.deepEqual(epochs(), [store.epoch, store.epoch]);
    assert.notEqual(store.epoch, epoch);
    follower.catchUp();
    assert.deepEqual([pauses, follower.head(), follower.numberOf(last)], [0, 2, undefined]);
    const position = published.read();
    published.publish({ ...position, epoch: position.epoch + 1 });
    follower.catchUp();
    assert.deepEqual([pauses, follower.head()], [1, 2]);
    follower.close();
    store.close();
  });

  /** A store that keeps some fourteen blocks, in segments of about one, and all that it does in the background. */
  function openRetained(t: TestContext) {
    const directory = mkdtempSync(join(tmpdir(), "follower-"));
    const deferred: (() => void)[] = [];
    const store = openDiskBlockStore({
      directory,
      createTrie,
      retention: RETENTION,
      segmentBytesMax: 1_024,
      defer: (work) => deferred.push(work),
      mergeLimits: {
        versionsMin: 20,
        nodeBytesMin: 4_000,
        blocksMin: 5,
        keysMax: 7,
        logs: { blocksMin: 5, postingsMin: 50, logBytesMin: 4_000, rowsMax: 5 },
      },
    });
    const head = join(directory, "head");
    const chain = new RandomChain(5);
    const append = (count: number) => {
      for (let i = 0; i < count; i++) {
        const { record, nodes } = chain.next();
        store.append(record, nodes);
        for (let work = deferred.shift(); work; work = deferred.shift()) work();
      }
    };
    append(1);
    store.publishToFile(head, assert.ifError);
    const followers = [head, store.followable!.head].map(
      (each) => new StoreFollower({ directory, head: each, createTrie }),
    );
    t.after(() => {
      for (const follower of followers) follower.close();
      store.close();
      rmSync(directory, { recursive: true, force: true });
    });
    return { directory, store, followers, append };
  }

  test("a follower that is further behind than blocks are stored opens the store anew", (t) => {
    const { store, followers, append } = openRetained(t);
    for (let round = 0; round < 4; round++) {
      const [followed] = followers;
      const end = followed!.head();
      append(60);
      assert.ok(store.base()! > end, "blocks after the follower's head are gone");
      for (const follower of followers) {
        follower.catchUp();
        assert.deepEqual([follower.head(), follower.base()], [store.head(), store.base()]);
        for (let n = store.base()!; n <= store.head()!; n++) assertEqualAt(follower, store, n);
        assertLogs(follower, store);
      }
    }
  });

  test("a follower holds no segment that was removed", {
    skip: process.platform !== "linux",
  }, (t) => {
    const { directory, followers, append } = openRetained(t);
    const openFiles = () =>
      readdirSync("/proc/self/fd").flatMap((fd) => {
        try {
          const path = readlinkSync(`/proc/self/fd/${fd}`);
          return path.startsWith(directory) ? [path] : [];
        } catch {
          // The descriptor of the listing itself.
          return [];
        }
      });
    let most = 0;
    for (let block = 0; block < 150; block++) {
      append(1);
      if (block % 2 === 0) for (const follower of followers) follower.releaseRemoved();
      else for (const follower of followers) follower.catchUp();
      assert.deepEqual(
        openFiles().filter((path) => path.endsWith(" (deleted)")),
        [],
      );
      most = Math.max(most, openFiles().length);
    }
    t.diagnostic(`${most} files open at most`);
  });

  test("has caches of half of cache.size, whatever it is", (t) => {
    const directory = mkdtempSync(join(tmpdir(), "follower-"));
    const store = openDiskBlockStore({ defer: deferNothing, directory, createTrie });
    t.after(() => {
      store.close();
      rmSync(directory, { recursive: true, force: true });
    });
    const follow = (bytes: number) => {
      const caches = followerCacheSizes(bytes);
      const follower = new StoreFollower({ ...store.followable!, createTrie, caches });
      t.after(() => follower.close());
      return follower;
    };
    const chain = new RandomChain(3);
    for (let i = 0; i < 3; i++) {
      const { record, nodes } = chain.next();
      store.append(record, nodes);
    }
    const isCached = (follower: StoreFollower) => {
      const first = follower.block(1);
      return follower.block(1) === first;
    };
    assert.equal(isCached(follow(CACHE_BYTES)), true);
    assert.equal(isCached(follow(0)), false);
    for (const [name, bytes] of Object.entries(followerCacheSizes(CACHE_BYTES))) {
      assert.equal(bytes, divideCacheSize(CACHE_BYTES / 2)[name as keyof CacheSizes], name);
    }
  });
});
