import assert from "node:assert/strict";
import type { Address } from "../../../src/base/primitives/address.ts";
import type { Hash } from "../../../src/base/primitives/hash.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../../src/base/types/constants.ts";
import { type BlockRecord, gasPaymentsOf } from "../../../src/chain/block-store.ts";
import type { LogBlockStore } from "../../../src/chain/store/log-block-store.ts";
import { createMemoryState, type MemoryState } from "../evm/state/memory-state.ts";
import { createMemoryNodes } from "../store/trie/memory-nodes.ts";
import { createTrie } from "./memory-disk.ts";
import { plain } from "./plain.ts";
import type { RandomBlock } from "./random-chain.ts";

/** Every block of a chain and every state of it, the simple way: what a store is compared with. */
export class ArchiveModel {
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

  /** The model of a chain whose last block is `number`. */
  upTo(number: number): ArchiveModel {
    const model = new ArchiveModel();
    for (const block of this.blocks.slice(0, number + 1)) model.add(block);
    return model;
  }

  /** What block `number` would change if it came after nothing. */
  baseOf(number: number): RandomBlock {
    const state = createMemoryState();
    for (const { record } of this.blocks.slice(0, number + 1)) state.apply(record.changes);
    const codes = new Map<Hash, Uint8Array>();
    const accounts = Array.from(state.accounts(), ([address, account]) => {
      if (account.codeHash !== EMPTY_CODE_HASH) {
        codes.set(account.codeHash, state.code(account.codeHash));
      }
      const storage = new Map(state.storageEntries(address));
      return { address, account, storage, storageCleared: false };
    });
    const changes = { accounts, codes };
    const { nodes } = createTrie(createMemoryNodes()).update(EMPTY_TRIE_ROOT, changes);
    return { record: { ...this.blocks[number]!.record, changes }, nodes };
  }

  /**
   * Compares every block and every state that `store` serves; older ones must be errors.
   * @param wholeStateAt number of a first block of the log whose changes are all of its state
   */
  assertEqual(store: LogBlockStore, wholeStateAt = 0): void {
    const base = store.base() ?? 0;
    assert.equal(store.head(), this.blocks.length === 0 ? undefined : this.blocks.length - 1);
    const state = createMemoryState();
    for (const [number, block] of this.blocks.entries()) {
      state.apply(block.record.changes);
      const isWhole = number === wholeStateAt && number > 0;
      const { record, nodes } = isWhole ? this.baseOf(number) : block;
      if (number < base) {
        assert.throws(() => store.block(number), { code: "BLOCK_PRUNED" });
        continue;
      }
      this.#assertBlock(store, number, record);
      if (number < store.stateBase()) {
        assert.throws(() => store.stateAt(number), { code: "BLOCK_STATE_PRUNED" });
        assert.throws(() => store.trieNodesAt(number), { code: "BLOCK_STATE_PRUNED" });
        continue;
      }
      this.#assertState(store, number, state);
      if (number < store.proofBase()) {
        assert.throws(() => store.trieNodesAt(number), { code: "BLOCK_STATE_PRUNED" });
        continue;
      }
      const known = store.trieNodesAt(number);
      for (const { owner, path, hash, rlp } of nodes) {
        assert.ok(Buffer.compare(known.node(owner, path, hash)!, rlp) === 0);
      }
    }
    assert.equal(store.block(this.blocks.length), undefined);
    assert.deepEqual(store.check().faults, []);
  }

  #assertBlock(store: LogBlockStore, number: number, record: BlockRecord): void {
    const { changes, consensusData, accessList, ...executed } = record;
    assert.deepEqual(plain(store.header(number)), plain(record.block.header));
    assert.equal(store.blockHash(number), record.block.hash);
    let firstLogIndex = 0;
    for (const [index, transaction] of record.block.transactions.entries()) {
      const receipt = record.receipts[index]!;
      assert.deepEqual(
        plain(store.transactionAt(number, index)),
        plain({
          transaction,
          receipt,
          firstLogIndex,
          index,
          sender: record.senders[index]!,
          blockHash: record.block.hash,
          blockNumber: number,
        }),
      );
      firstLogIndex += receipt.logs.length;
    }
    assert.equal(store.transactionAt(number, record.block.transactions.length), undefined);
    assert.equal(store.transactionCount(number), record.block.transactions.length);
    assert.deepEqual(store.gasPayments(number), gasPaymentsOf(record));
    const { block, senders, receipts } = store.block(number)!;
    assert.deepEqual(plain({ block, senders, receipts }), plain(executed));
    assert.deepEqual(plain(store.changes(number)), plain(changes));
    assert.deepEqual(plain(store.consensusDataOf(number)), plain(consensusData));
    assert.deepEqual(plain(store.accessList(number)), plain(accessList));
    assert.equal(store.numberOf(record.block.hash), number);
    for (const [index, tx] of record.block.transactions.entries()) {
      assert.deepEqual(store.transactionPosition(tx.hash), { number, index });
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
      assert.deepEqual(new Map(stored.storageEntries(address)), new Map(state.storageEntries(address)));
    }
  }
}
