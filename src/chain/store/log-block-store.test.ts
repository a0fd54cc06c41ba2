import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ManualTimers } from "../../../test/support/base/telemetry/manual-timers.ts";
import { ArchiveModel } from "../../../test/support/chain/archive-model.ts";
import { FAIL_POINTS } from "../../../test/support/chain/fail-points.ts";
import { createMemoryDisk, createTrie } from "../../../test/support/chain/memory-disk.ts";
import { plain } from "../../../test/support/chain/plain.ts";
import { type RandomBlock, RandomChain } from "../../../test/support/chain/random-chain.ts";
import fc from "../../../test/support/fast-check.ts";
import { createFaultyDisk } from "../../../test/support/store/storage/faulty-disk.ts";
import { createMemoryNodes } from "../../../test/support/store/trie/memory-nodes.ts";
import { InvariantError } from "../../base/errors.ts";
import type { Address } from "../../base/primitives/address.ts";
import { type Hash, ZERO_HASH } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { SharedSlices } from "../../base/threads/shared-slices.ts";
import type { StateChanges, StateReader } from "../../evm/state/reader.ts";
import { createStateTrie } from "../../evm/state/state-trie.ts";
import { prefixRange } from "../../store/storage/kv.ts";
import { BlockLog } from "../../store/storage/log/block-log.ts";
import { SEGMENT_HEADER_LENGTH } from "../../store/storage/log/log-segment.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import { META, TABLE, tableKey } from "../../store/storage/schema.ts";
import { createChainStateTrie } from "../chain-state-trie.ts";
import { decodeChangeRows, encodeBlockRecord } from "../records/block-record.ts";
import { deferNothing } from "./background-work.ts";
import { type LogBlockStore, openLogBlockStore } from "./log-block-store.ts";

describe("LogBlockStore", () => {
  test("gives back every block and every state of a chain", () => {
    const store = createMemoryDisk().open();
    const chain = new RandomChain(1);
    const model = new ArchiveModel();
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
        const disk = createMemoryDisk();
        let store = disk.open();
        let model = new ArchiveModel();
        let chain = new RandomChain(seed);
        let rollbacks = 0;
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
            model = model.upTo(number);
            chain = RandomChain.from(
              seed + ++rollbacks,
              model.blocks.map(({ record }) => record),
            );
          }
        }
        model.assertEqual(store);
        model.assertEqual(disk.open());
      }),
      { numRuns: 60 },
    );
  });

  test("a block decoded in slices is the one that was asked for, also when it is rolled back meanwhile", async () => {
    const disk = createMemoryDisk();
    const chain = new RandomChain(5, { transactionsMax: 400 });
    const blocks = Array.from({ length: 4 }, () => chain.next());
    const written = disk.open();
    for (const { record, nodes } of blocks) written.append(record, nodes);
    const number = blocks.findLastIndex(({ record }) => record.block.transactions.length > 100);
    const { changes: _changes, consensusData: _data, accessList: _list, ...wanted } = blocks[number]!.record;

    const store = disk.open();
    const slices = new SharedSlices(new ManualTimers({ msPerLook: 1 }), { sliceMs: 0 });
    const both = [store.blockInSlices(number, slices), store.blockInSlices(number, slices)];
    assert.ok(both[0] instanceof Promise);
    const [first, second] = await Promise.all(both);
    assert.equal(first, second);
    assert.equal(store.block(number), first);
    const { block, senders, receipts } = first!;
    assert.deepEqual(plain({ block, senders, receipts }), plain(wanted));
    assert.equal(store.blockInSlices(4, slices), undefined);

    const reopened = disk.open();
    const removed = reopened.blockInSlices(number, slices);
    reopened.rollbackTo(number - 1);
    const others = RandomChain.from(
      6,
      blocks.slice(0, number).map(({ record }) => record),
    );
    const other = others.next();
    reopened.append(other.record, other.nodes);
    assert.equal((await removed)?.block.hash, wanted.block.hash);
    assert.equal(reopened.block(number)?.block.hash, other.record.block.hash);
  });

  test("dying at any step of an append leaves the block whole or not there, and all before it", () => {
    for (const point of [...FAIL_POINTS, "rollback:log"]) {
      for (const dyingAt of [1, 2, 9]) {
        const disk = createMemoryDisk();
        let hits = 0;
        const store = disk.open({
          failPoint(name) {
            if (name === point && ++hits === dyingAt) throw new Error("dead");
          },
        });
        const chain = new RandomChain(dyingAt);
        let model = new ArchiveModel();
        let unsure: RandomBlock | undefined;
        const step = (): void => {
          unsure = chain.next();
          store.append(unsure.record, unsure.nodes);
          model.add(unsure);
          unsure = undefined;
          disk.deferred.shift()?.();
        };
        try {
          for (let i = 0; i < 40; i++) step();
          for (let number = 38; number > 20; number--) {
            store.rollbackTo(number);
            model = model.upTo(number);
          }
        } catch (error) {
          // A merge has no caller to throw at: the append after it says so.
          const { message, code } = error as { message: string; code?: string };
          assert.ok(message === "dead" || code === "STORE_POISONED", message);
        }
        const again = disk.open();
        if (unsure !== undefined && again.head() === model.blocks.length) model.add(unsure);
        model.assertEqual(again);
      }
    }
  });

  test("a block that the index could not take is taken back, and may be tried again", () => {
    const disk = createMemoryDisk();
    let failing = false;
    const store = disk.open({
      failPoint(name) {
        if (failing && name === "append:commit") throw new Error("no space left");
      },
    });
    const chain = new RandomChain(4);
    const model = new ArchiveModel();
    for (let i = 0; i < 30; i++) {
      const block = chain.next();
      failing = i % 3 === 0;
      if (failing) {
        assert.throws(() => store.append(block.record, block.nodes), { message: "no space left" });
      }
      failing = false;
      store.append(block.record, block.nodes);
      model.add(block);
    }
    model.assertEqual(store);
    model.assertEqual(disk.open());
  });

  for (const point of ["append:committed", "append:end"]) {
    test(`a failure after the commit, at ${point}, stops the store; opened again it has the block`, () => {
      const disk = createMemoryDisk();
      let failing = false;
      const store = disk.open({
        failPoint(name) {
          if (failing && name === point) throw new RangeError("out of memory");
        },
      });
      const chain = new RandomChain(9);
      const model = new ArchiveModel();
      for (let i = 0; i < 6; i++) {
        const block = chain.next();
        failing = i === 5;
        if (failing) assert.throws(() => store.append(block.record, block.nodes), RangeError);
        else store.append(block.record, block.nodes);
        model.add(block);
      }
      failing = false;
      const next = chain.next();
      for (const write of [
        () => store.append(next.record, next.nodes),
        () => store.rollbackTo(2),
        () => store.mergeSome(),
      ]) {
        assert.throws(write, { code: "STORE_POISONED" });
      }
      model.assertEqual(disk.open());
    });
  }

  test("a base is refused unless its changes are exactly the state of its header", () => {
    const model = new ArchiveModel();
    const chain = new RandomChain(21);
    for (let i = 0; i < 40; i++) model.add(chain.next());
    const number = model.blocks.findIndex((_, i) => model.baseOf(i).record.changes.codes.size > 0);
    const { record, nodes } = model.baseOf(number);
    const { accounts, codes } = record.changes;
    assert.ok(number > 0);
    const [address, slot] = [`0x${"99".repeat(20)}` as Address, `0x${"0".repeat(64)}` as Hash];
    const cleared = {
      address,
      account: null,
      storage: new Map([[slot, 5n]]),
      storageCleared: false,
    };
    const [first, ...others] = accounts;
    const storage = new Map([...first!.storage, [`0x${"f".repeat(64)}` as Hash, 0n]]);
    const poisoned: readonly StateChanges[] = [
      { codes, accounts: [...accounts, cleared] },
      { codes, accounts: [{ ...cleared, storage: new Map() }, ...accounts] },
      { codes, accounts: [first!, ...accounts] },
      { codes, accounts: [{ ...first!, storageCleared: true }, ...others] },
      { codes, accounts: [{ ...first!, storage }, ...others] },
      { accounts, codes: new Map() },
      { accounts, codes: new Map([...codes, [keccak256Hash(Uint8Array.of(1)), Uint8Array.of(1)]]) },
      { accounts, codes: new Map(Array.from(codes, ([hash]) => [hash, Uint8Array.of(1)])) },
    ];
    for (const changes of poisoned) {
      const store = createMemoryDisk().open();
      assert.throws(() => store.append({ ...record, changes }, nodes), {
        code: "STORE_INVALID_STATE",
      });
      store.append(record, nodes);
      assert.equal(store.head(), number);
    }
    const store = createMemoryDisk().open();
    assert.throws(() => store.append({ ...record, changes: { codes: new Map(), accounts: [] } }, nodes), {
      code: "STORE_STATE_ROOT_MISMATCH",
    });
  });

  test("an index without the tables of logs gets them when it is opened", () => {
    const disk = createMemoryDisk();
    const store = disk.open();
    const chain = new RandomChain(8);
    const model = new ArchiveModel();
    for (let i = 0; i < 40; i++) {
      const block = chain.next();
      store.append(block.record, block.nodes);
      model.add(block);
    }
    for (let work = disk.deferred.shift(); work; work = disk.deferred.shift()) work();
    disk.index.transaction((writer) => {
      const mark = tableKey(TABLE.meta, Buffer.from(META.logIndexedBlocks, "latin1"));
      assert.ok(writer.get(mark));
      writer.remove(mark);
      for (const table of [TABLE.logPosting, TABLE.blockLogs]) {
        for (const [key] of Array.from(writer.range(prefixRange(Uint8Array.of(table))))) {
          writer.remove(key);
        }
      }
    });
    model.assertEqual(disk.open());
  });

  test("a failed sync stops the store until it is opened again", () => {
    const disk = createFaultyDisk();
    const index = createMemoryKv();
    const open = () => openLogBlockStore({ defer: deferNothing, log: disk.directory, index, createTrie });
    const store = open();
    const chain = new RandomChain(5);
    const model = new ArchiveModel();
    for (let i = 0; i < 5; i++) {
      const block = chain.next();
      store.append(block.record, block.nodes);
      model.add(block);
    }
    const { record, nodes } = chain.next();
    disk.failSync();
    assert.throws(() => store.append(record, nodes), { code: "STORE_LOG_POISONED" });
    disk.heal();
    assert.throws(() => store.append(record, nodes), { code: "STORE_LOG_POISONED" });
    model.assertEqual(store);
    const again = open();
    if (again.head() === 5) model.add({ record, nodes });
    model.assertEqual(again);
  });

  test("a log whose first segments are missing is damaged, with and without an index", () => {
    const disk = createMemoryDisk();
    const store = disk.open();
    const chain = new RandomChain(7);
    for (let i = 0; i < 40; i++) {
      const { record, nodes } = chain.next();
      store.append(record, nodes);
    }
    disk.log.remove(disk.log.list()[0]!);
    assert.throws(() => disk.open({ index: disk.index }), { code: "STORE_CORRUPT_LOG" });
    assert.throws(() => disk.open({ index: createMemoryKv() }), {
      code: "STORE_STATE_ROOT_MISMATCH",
    });
  });

  test("a merge that fails is told to the next append", () => {
    const disk = createMemoryDisk();
    const store = disk.open({
      failPoint(name) {
        if (name === "merge:begin") throw new Error("no space left");
      },
    });
    const chain = new RandomChain(6);
    const next = () => {
      const { record, nodes } = chain.next();
      store.append(record, nodes);
    };
    while (disk.deferred.length === 0) next();
    disk.deferred.shift()!();
    assert.throws(next, { code: "STORE_POISONED" });
    assert.throws(() => store.rollbackTo(0), { code: "STORE_POISONED" });
  });

  test("may begin after block 0 with a block that changes all of the state; what is older is pruned", () => {
    const chain = new RandomChain(21);
    const model = new ArchiveModel();
    for (let i = 0; i < 40; i++) model.add(chain.next());
    const BASE = 17;
    const disk = createMemoryDisk();
    const store = disk.open();
    for (const [number, block] of model.blocks.entries()) {
      if (number < BASE) continue;
      const { record, nodes } = number === BASE ? model.baseOf(BASE) : block;
      store.append(record, nodes);
    }
    const assertWhole = (store: LogBlockStore): void => {
      assert.equal(store.base(), BASE);
      model.assertEqual(store, BASE);
      for (const read of [
        () => store.block(BASE - 1),
        () => store.header(0),
        () => store.blockHash(3),
        () => store.transactionAt(BASE - 1, 0),
        () => store.stateAt(BASE - 1),
        () => store.changes(0),
        () => store.trieNodesAt(BASE - 1),
        () => store.rollbackTo(BASE - 1),
      ]) {
        assert.throws(read, { code: "BLOCK_PRUNED" });
      }
      const unknown = model.blocks[BASE - 1]!.record.block;
      assert.equal(store.numberOf(unknown.hash), undefined);
    };
    assertWhole(store);
    assertWhole(disk.open());
    const again = disk.open({ index: createMemoryKv() });
    assert.equal(again.replayedBlocks, 40 - BASE);
    assertWhole(again);
    again.rollbackTo(BASE + 2);
    model.blocks.length = BASE + 3;
    assertWhole(again);
  });

  test("takes nothing but a child of its head, and gives no state of a block it has not", () => {
    const store = createMemoryDisk().open();
    const chain = new RandomChain(7);
    const genesis = chain.next();
    const first = chain.next();
    const second = chain.next();
    const append = ({ record, nodes }: RandomBlock) => store.append(record, nodes);
    assert.throws(() => append(first), { code: "STORE_STATE_ROOT_MISMATCH" });
    assert.throws(() => store.stateAt(0), InvariantError);
    append(genesis);
    append(first);
    assert.throws(() => append(first), InvariantError);
    const stranger = new RandomChain(8);
    stranger.next();
    stranger.next();
    assert.throws(() => append(stranger.next()), InvariantError);
    append(second);
    assert.throws(() => store.stateAt(3), InvariantError);
    assert.throws(() => store.changes(3), InvariantError);
    assert.throws(() => store.rollbackTo(3), InvariantError);
    assert.deepEqual([store.block(3), store.block(-1)], [undefined, undefined]);
    assert.equal(store.transactionPosition(ZERO_HASH), undefined);
    assert.equal(store.numberOf(ZERO_HASH), undefined);
  });

  test("a state stays the same while blocks are added", () => {
    const store = createMemoryDisk().open();
    const chain = new RandomChain(9);
    const states: { state: StateReader; expected: unknown }[] = [];
    const addresses = new Set<Address>();
    const read = (state: StateReader) =>
      Array.from(addresses, (address) => [address, state.account(address), new Map(state.storageEntries(address))]);
    const genesis = chain.next();
    for (const { address } of genesis.record.changes.accounts) addresses.add(address);
    store.append(genesis.record, genesis.nodes);
    for (let i = 0; i < 40; i++) {
      const state = store.stateAt(store.head()!);
      states.push({ state, expected: read(state) });
      const { record, nodes } = chain.next();
      store.append(record, nodes);
    }
    for (const { state, expected } of states) assert.deepEqual(read(state), expected);
  });

  test("a changed byte in the log is refused where a state is read from it", () => {
    const disk = createMemoryDisk();
    const store = disk.open();
    const chain = new RandomChain(10);
    const { record, nodes } = chain.next();
    store.append(record, nodes);
    const { key, offset } = decodeChangeRows(encodeBlockRecord(record, new Set())).accounts[0]!;
    const address = bytesToHex(key) as Address;
    const accountIn = ({ accounts }: StateChanges) => accounts.find((change) => change.address === address)?.account;
    for (let isChanged = false; !isChanged; ) {
      const block = chain.next();
      store.append(block.record, block.nodes);
      const account = accountIn(block.record.changes);
      // Not read through the store, which has the account in memory afterwards.
      isChanged = account !== undefined && account?.nonce !== accountIn(record.changes)?.nonce;
    }
    const file = disk.log.open(disk.log.list()[0]!);
    const at = BlockLog.payloadPosition(SEGMENT_HEADER_LENGTH, offset) + 25;
    const byte = new Uint8Array(1);
    file.read(byte, at);
    byte[0]! ^= 1;
    file.write(byte, at);
    // Versions in memory have their values.
    while (store.mergeSome());
    assert.throws(() => store.stateAt(0).account(address), { code: "STORE_CORRUPT_LOG" });
  });

  test("proofs can be had, and tries be built, on every state of the chain", () => {
    const disk = createMemoryDisk();
    const store = disk.open();
    const chain = new RandomChain(13);
    const nodes = createMemoryNodes();
    const all = createStateTrie(nodes);
    const roots: { root: Hash; address: Address; slots: Hash[] }[] = [];
    for (let i = 0; i < 80; i++) {
      const block = chain.next();
      store.append(block.record, block.nodes);
      nodes.keep(block.nodes);
      disk.deferred.shift()?.();
      const { address, storage } = block.record.changes.accounts[0]!;
      const root = block.record.block.header.stateRoot;
      roots.push({ root, address, slots: Array.from(storage.keys()) });
    }
    const { changes } = chain.next().record;
    for (const trie of [createChainStateTrie(store), createChainStateTrie(disk.open())]) {
      for (const { root, address, slots } of roots) {
        assert.deepEqual(plain(trie.prove(root, address, slots)), plain(all.prove(root, address, slots)));
        assert.equal(trie.update(root, changes).root, all.update(root, changes).root);
      }
      assert.throws(() => trie.prove(ZERO_HASH, roots[0]!.address, []), {
        name: "MissingTrieNodeError",
      });
    }
  });

  test("takes no block without space on the disk, reads on, and goes on once there is some", () => {
    const disk = createMemoryDisk();
    let freeBytes = Infinity;
    const store = disk.open({ freeBytes: () => freeBytes });
    const chain = new RandomChain(14);
    const model = new ArchiveModel();
    for (let i = 0; i < 40; i++) {
      const block = chain.next();
      freeBytes = 1_000_000;
      assert.throws(() => store.append(block.record, block.nodes), { code: "STORE_DISK_FULL" });
      disk.deferred.shift()?.();
      freeBytes = 1_000_000_000;
      store.append(block.record, block.nodes);
      model.add(block);
    }
    freeBytes = 0;
    model.assertEqual(store);
    model.assertEqual(disk.open());
  });
});
