import assert from "node:assert/strict";
import { test } from "node:test";
import { plain } from "../../../../test/support/chain/plain.ts";
import { mulberry32, RandomChain } from "../../../../test/support/chain/random-chain.ts";
import { createMemoryNodes } from "../../../../test/support/store/trie/memory-nodes.ts";
import type { Address } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint, ZERO_HASH } from "../../../base/primitives/hash.ts";
import { keccak256Hash } from "../../../base/primitives/keccak.ts";
import { EMPTY_CODE_HASH, EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import { headerHash } from "../../../base/types/header-codec.ts";
import type { AccountChange } from "../../../evm/state/reader.ts";
import { createStateTrie } from "../../../evm/state/state-trie.ts";
import { prefixRange } from "../../../store/storage/kv.ts";
import { createMemoryLogDirectory } from "../../../store/storage/log/memory-log-directory.ts";
import { createMemoryKv } from "../../../store/storage/memory-kv.ts";
import { TABLE } from "../../../store/storage/schema.ts";
import type { BlockRecord } from "../../block-store.ts";
import { createChainStateTrie } from "../../chain-state-trie.ts";
import { openLogBlockStore } from "../log-block-store.ts";

const ACCOUNTS = 3_000;
const SLOTS = 3_000;
const BLOCKS = 26;

const addressOf = (n: number) => keccak256Hash(Buffer.from(`account ${n}`)).slice(0, 42) as Address;
const token = addressOf(-1);

/** A state with nodes four and five nibbles deep, in the account trie and in one storage trie, that each block changes in a few places. */
function createLargeChain(seed: number) {
  const random = mulberry32(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const nodes = createMemoryNodes();
  const trie = createStateTrie(nodes);
  const { record: template } = new RandomChain(seed).next();
  let parent = { hash: ZERO_HASH, root: EMPTY_TRIE_ROOT, number: -1 };

  const accountChange = (n: number, number: number): AccountChange => ({
    address: addressOf(n),
    account: { nonce: BigInt(number), balance: BigInt(below(2 ** 40)), codeHash: EMPTY_CODE_HASH },
    storage: new Map(),
    storageCleared: false,
  });
  const tokenChange = (slots: Map<Hash, bigint>): AccountChange => ({
    address: token,
    account: { nonce: 1n, balance: 0n, codeHash: EMPTY_CODE_HASH },
    storage: slots,
    storageCleared: false,
  });
  const slotOf = (n: number) => hashFromBigint(BigInt(n));

  function changesOf(number: number): AccountChange[] {
    if (number === 0) {
      const slots = new Map(Array.from({ length: SLOTS }, (_, n) => [slotOf(n), BigInt(n + 1) << 128n] as const));
      const accounts = Array.from({ length: ACCOUNTS }, (_, n) => accountChange(n, 0));
      return [...accounts, tokenChange(slots)];
    }
    const touched = new Set(Array.from({ length: 8 }, () => below(ACCOUNTS + 200)));
    const slots = new Map(
      Array.from({ length: 8 }, () => [
        slotOf(below(SLOTS + 200)),
        below(3) === 0 ? 0n : BigInt(1 + below(1_000)) << 128n,
      ]),
    );
    const accounts = Array.from(touched, (n) => accountChange(n, number));
    return [...accounts, tokenChange(slots)];
  }

  return {
    slotOf,
    below,
    prove: trie.prove,
    next() {
      const number = parent.number + 1;
      const changes = { accounts: changesOf(number), codes: new Map() };
      const update = trie.update(parent.root, changes);
      nodes.keep(update.nodes);
      const header = {
        ...template.block.header,
        number,
        parentHash: parent.hash,
        stateRoot: update.root,
      };
      const hash = headerHash(header);
      parent = { hash, root: update.root, number };
      const record: BlockRecord = {
        block: { hash, header, transactions: [], uncles: [], withdrawals: [] },
        senders: [],
        receipts: [],
        changes,
        consensusData: EMPTY_BYTES,
      };
      return { record, nodes: update.nodes };
    },
  };
}

test("proofs at every block of a large state are those of an archive, after merges, a rollback and a kill", () => {
  const [log, index] = [createMemoryLogDirectory(), createMemoryKv()];
  const deferred: (() => void)[] = [];
  const open = () =>
    openLogBlockStore({
      log,
      index,
      createTrie: createStateTrie,
      defer: (work) => deferred.push(work),
      mergeLimits: { versionsMin: 60, nodeBytesMin: 100_000, blocksMin: 7, keysMax: 50 },
    });
  let store = open();
  const chain = createLargeChain(7);
  const roots: Hash[] = [];
  const assertProofs = () => {
    const trie = createChainStateTrie(store);
    for (const [number, root] of roots.entries()) {
      assert.equal(store.header(number)?.stateRoot, root);
      const slots = Array.from({ length: 3 }, () => chain.slotOf(chain.below(SLOTS + 200)));
      for (const address of [token, addressOf(chain.below(ACCOUNTS + 200))]) {
        assert.deepEqual(plain(trie.prove(root, address, slots)), plain(chain.prove(root, address, slots)));
      }
    }
    assert.deepEqual(store.check().faults, []);
  };
  const append = () => {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
    roots.push(record.block.header.stateRoot);
    // One slice of a merge between two blocks: at most times one is under way.
    deferred.shift()?.();
  };
  for (let i = 0; i < BLOCKS; i++) append();
  assertProofs();
  const blocks = roots.slice(BLOCKS - 10).map((_, i) => {
    const number = BLOCKS - 10 + i;
    const { block, senders, receipts } = store.block(number)!;
    const [changes, consensusData] = [store.changes(number), store.consensusDataOf(number)];
    return { block, senders, receipts, changes, consensusData };
  });
  const removed = roots.splice(BLOCKS - 10);
  store.rollbackTo(BLOCKS - 11);
  assertProofs();
  // The same blocks again, and a store that was never closed.
  const trie = createChainStateTrie(store);
  for (const [i, record] of blocks.entries()) {
    store.append(record, trie.update(roots.at(-1)!, record.changes).nodes);
    roots.push(removed[i]!);
    if (i % 2 === 0) deferred.shift()?.();
  }
  assertProofs();
  deferred.length = 0;
  store = open();
  assertProofs();
  store.close();
});

test("blocks that change what is there add no rows of trie nodes", () => {
  const index = createMemoryKv();
  const store = openLogBlockStore({
    log: createMemoryLogDirectory(),
    index,
    createTrie: createStateTrie,
    defer: () => {},
  });
  const chain = createLargeChain(8);
  const rows = () =>
    [TABLE.accountTrieNode, TABLE.storageTrieNode].map(
      (table) => [...index.range(prefixRange(Uint8Array.of(table)))].length,
    );
  const append = () => {
    const { record, nodes } = chain.next();
    store.append(record, nodes);
    while (store.mergeSome());
  };
  append();
  const before = rows();
  for (let i = 0; i < 20; i++) append();
  // Some of the touched accounts and slots are new: a leaf each, and now and then the branch above it.
  for (const [i, count] of rows().entries()) assert.ok(count - before[i]! < 20 * 8 * 0.2, `${count}`);
  store.close();
});
