import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ArchiveModel } from "../../../../test/support/chain/archive-model.ts";
import { createMemoryDisk, createTrie } from "../../../../test/support/chain/memory-disk.ts";
import { RandomChain } from "../../../../test/support/chain/random-chain.ts";
import fc from "../../../../test/support/fast-check.ts";
import {
  type CommitFailure,
  FailingKv,
  InjectedCommitError,
} from "../../../../test/support/store/storage/failing-kv.ts";
import { parseGenesis } from "../../../base/params/genesis.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import { createMemoryKv } from "../../../store/storage/memory-kv.ts";
import { TABLE, tableKey } from "../../../store/storage/schema.ts";
import { genesisRecord } from "../../genesis-block.ts";
import type { LogBlockStore } from "../log-block-store.ts";
import { writeHashedAddress } from "../state/hashed-keys.ts";
import type { RetentionOptions } from "./retention.ts";

/** Slices of one step. */
const SLICES = { blocksMin: 1, sliceMs: 0, batchRows: 7 };

type Disk = ReturnType<typeof createMemoryDisk>;

function runDeferred({ deferred }: Disk, count = Number.POSITIVE_INFINITY): void {
  for (let i = 0; i < count; i++) {
    const work = deferred.shift();
    if (work === undefined) return;
    work();
  }
}

/** Continues the chain in `model` by `count` blocks. */
function grow(store: LogBlockStore, chain: RandomChain, model: ArchiveModel, count: number): void {
  for (let i = 0; i < count; i++) {
    const block = chain.next();
    store.append(block.record, block.nodes);
    model.add(block);
  }
}

function clear({ index }: Disk): void {
  index.transaction((writer) => {
    for (const [key] of Array.from(writer.range({}))) writer.remove(key);
  });
}

/** A genesis file with so many accounts. */
function genesisOf(accounts: number): string {
  const alloc = Object.fromEntries(
    Array.from({ length: accounts }, (_, i) => [`0x${(i + 1).toString(16).padStart(40, "0")}`, { balance: "1" }]),
  );
  return JSON.stringify({ config: { chainId: 1 }, alloc, difficulty: "0x0", gasLimit: "0x1" });
}

describe("Retention", () => {
  for (const [name, retention] of [
    ["blocks", { blocks: 10 }],
    ["states", { states: 10 }],
    ["proofs", { proofs: 10 }],
    ["each its own number", { blocks: 30, states: 20, proofs: 10 }],
  ] satisfies [string, RetentionOptions][]) {
    test(`of ${name} removes what is older and nothing else`, () => {
      const disk = createMemoryDisk();
      const store = disk.open({ retention: { ...retention, ...SLICES } });
      const model = new ArchiveModel();
      const chain = new RandomChain(3);
      for (let i = 0; i < 20; i++) {
        grow(store, chain, model, 7);
        runDeferred(disk);
        if (i % 7 === 5) model.assertEqual(store);
      }
      const { blocks, states = blocks, proofs = states } = retention as RetentionOptions;
      const merged = 12 + 7;
      const isPruned = (retained: number | undefined, base: number) =>
        assert.ok(
          retained === undefined ? base === 0 : base > 140 - retained - merged && base <= 140 - retained,
          `${base}`,
        );
      isPruned(blocks, store.base()!);
      isPruned(states, store.stateBase());
      isPruned(proofs, store.proofBase());
      model.assertEqual(disk.open({ retention: { ...retention, ...SLICES } }));
    });
  }

  test("the log shrinks, and the index is made from what is left of it", () => {
    const disk = createMemoryDisk();
    const retention = { blocks: 10, ...SLICES };
    const store = disk.open({ retention });
    const model = new ArchiveModel();
    const chain = new RandomChain(5);
    const sizes: number[] = [];
    for (let i = 0; i < 60; i++) {
      grow(store, chain, model, 5);
      runDeferred(disk);
      sizes.push(disk.log.list().reduce((sum, name) => sum + disk.log.open(name).size(), 0));
    }
    assert.ok(Math.max(...sizes.slice(30)) < 1.3 * Math.max(...sizes.slice(10, 30)), `${sizes}`);
    assert.ok(!disk.log.list().includes("0000000000000000.log"));
    clear(disk);
    const again = disk.open({ retention });
    assert.equal(again.head(), 299);
    model.assertEqual(again);
    grow(again, chain, model, 30);
    runDeferred(disk);
    model.assertEqual(again);
  });

  test("a process may die at any commit while it makes the index of a log without its first blocks", () => {
    const disk = createMemoryDisk();
    const retention = { blocks: 10, ...SLICES };
    const store = disk.open({ retention });
    const model = new ArchiveModel();
    grow(store, new RandomChain(5), model, 25);
    runDeferred(disk);
    assert.ok(store.base()! > 0);
    // Keys of a merge are one slice: fewer commits to die at.
    const mergeLimits = { versionsMin: 40, nodeBytesMin: 20_000, blocksMin: 12, keysMax: 40 };
    const killedAt = (transaction: number, failure: CommitFailure) => {
      const index = createMemoryKv();
      const killed = new FailingKv(index, { transaction, failure });
      try {
        disk.open({ retention, mergeLimits, index: killed });
      } catch (error) {
        if (!(error instanceof InjectedCommitError)) throw error;
      }
      const again = disk.open({ retention, mergeLimits, index });
      assert.deepEqual(again.check().faults, [], `${failure} commit ${transaction}`);
      if (failure === "before") model.assertEqual(again);
      return killed.count > transaction;
    };
    let commits = 0;
    while (killedAt(commits, "before")) killedAt(commits++, "after");
    assert.ok(commits > 10, `${commits}`);
  });

  test("a block with all of a state is pruned a key at a time, its rows in several batches", () => {
    const accounts = 200;
    const disk = createMemoryDisk();
    const store = disk.open({ retention: { blocks: 10, ...SLICES } });
    const genesis = genesisRecord(parseGenesis(genesisOf(accounts)));
    const nodes = createTrie(store.trieNodes).update(EMPTY_TRIE_ROOT, genesis.changes).nodes;
    const model = new ArchiveModel();
    store.append(genesis, nodes);
    model.add({ record: genesis, nodes });
    const chain = RandomChain.from(7, [genesis]);
    grow(store, chain, model, 30);
    while (store.mergeSome());
    while (store.base() === 0) runDeferred(disk, 1);
    let slices = 0;
    for (; store.pruneSome(); slices++) assert.ok(store.base()! > 0);
    // Keys are read for the states and for the proofs, and then removed.
    assert.ok(slices > 3 * accounts, `${slices}`);
    model.assertEqual(store);
  });

  test("a pass that a killed process left is no fault of the store", () => {
    const disk = createMemoryDisk();
    const retention = { blocks: 10, ...SLICES };
    const store = disk.open({ retention });
    grow(store, new RandomChain(9), new ArchiveModel(), 40);
    while (store.mergeSome());
    while (store.base() === 0) runDeferred(disk, 1);
    assert.ok(store.blocksToPrune > 0);
    const again = disk.open({ retention });
    assert.ok(again.blocksToPrune > 0);
    assert.deepEqual(again.check().faults, []);
  });

  test("no segment of the log goes where the index has another state than the chain", () => {
    const disk = createMemoryDisk();
    const failures: unknown[] = [];
    const store = disk.open({
      retention: { blocks: 10, ...SLICES },
      onPruningFailure: (error) => failures.push(error),
    });
    const model = new ArchiveModel();
    const chain = new RandomChain(5);
    grow(store, chain, model, 2);
    disk.index.transaction((writer) => {
      const balance = Uint8Array.of(1, 0, 1);
      writer.put(tableKey(TABLE.account, new Uint8Array(20)), balance);
      writer.put(tableKey(TABLE.accountHistory, new Uint8Array(20)), new Uint8Array(0));
      writeHashedAddress(writer, new Uint8Array(20));
    });
    for (let i = 0; i < 60; i++) {
      grow(store, chain, model, 5);
      runDeferred(disk);
    }
    assert.deepEqual(
      failures.map((error) => (error as { readonly code?: unknown }).code),
      ["STORE_STATE_ROOT_MISMATCH"],
    );
    assert.ok(disk.log.list().includes("0000000000000000.log"));
  });

  test("with random blocks, prunings, rollbacks, restarts and rebuilds the store is equal to a naive archive", () => {
    const operation = fc.oneof(
      { weight: 6, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 6 }) }) },
      { weight: 6, arbitrary: fc.record({ work: fc.integer({ min: 1, max: 60 }) }) },
      { weight: 1, arbitrary: fc.record({ rollback: fc.double({ min: 0, max: 1, noNaN: true }) }) },
      { weight: 2, arbitrary: fc.constant({ reopen: true as const }) },
      { weight: 1, arbitrary: fc.constant({ reindex: true as const }) },
    );
    const limit = fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined });
    const limits = fc.record({ blocks: limit, states: limit, proofs: limit });
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 40 }), limits, fc.nat(), (operations, retained, seed) => {
        const disk = createMemoryDisk();
        const retention = { ...retained, ...SLICES };
        let store = disk.open({ retention });
        let model = new ArchiveModel();
        let chain = new RandomChain(seed);
        let rollbacks = 0;
        for (const step of operations) {
          if ("append" in step) grow(store, chain, model, step.append);
          else if ("work" in step) runDeferred(disk, step.work);
          else if ("reopen" in step) store = disk.open({ retention });
          else if ("reindex" in step) {
            clear(disk);
            store = disk.open({ retention });
          } else if (model.blocks.length > 0) {
            const first = store.proofBase();
            const number = first + Math.floor(step.rollback * (store.head()! - first));
            store.rollbackTo(number);
            model = model.upTo(number);
            chain = RandomChain.from(
              seed + ++rollbacks,
              model.blocks.map(({ record }) => record),
            );
          }
        }
        while (store.pruneSome());
        model.assertEqual(store);
        const again = disk.open({ retention });
        while (again.pruneSome());
        model.assertEqual(again);
      }),
      { numRuns: 60 },
    );
  });
});
