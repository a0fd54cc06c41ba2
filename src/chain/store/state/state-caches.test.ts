import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { encodeAccount } from "../../../../test/support/chain/encode-account.ts";
import { RandomChain } from "../../../../test/support/chain/random-chain.ts";
import { createMemoryState } from "../../../../test/support/evm/state/memory-state.ts";
import fc from "../../../../test/support/fast-check.ts";
import { type Address, addressFromBytes } from "../../../base/primitives/address.ts";
import { bigintToBytes } from "../../../base/primitives/bytes.ts";
import { type Hash, hashFromBigint, hashFromBytes } from "../../../base/primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../../base/types/constants.ts";
import type { StateChanges } from "../../../evm/state/reader.ts";
import { ByteReader } from "../../../store/storage/byte-io.ts";
import { type ChangeRows, encodeChanges, readChangeRows } from "../../records/changes-record.ts";
import { HeadState, HistoricStates, RecentCodes } from "./state-caches.ts";

/** An index of the newest state alone, which counts its reads. */
function createLatest() {
  const state = createMemoryState();
  let reads = 0;
  return {
    state,
    reads: () => reads,
    accounts: {
      latest(key: Uint8Array) {
        reads++;
        const account = state.account(addressFromBytes(key));
        return account && encodeAccount(account);
      },
    },
    slots: {
      latest(key: Uint8Array) {
        reads++;
        const [address, slot] = [key.subarray(0, 20), key.subarray(20)];
        const value = state.storage(addressFromBytes(address), hashFromBytes(slot));
        return value === 0n ? undefined : bigintToBytes(value);
      },
    },
  };
}

/** The entry that exceeds the limit is still stored, and so are the lines of one set. */
const ONE_ENTRY_BYTES = 1_200;

function rowsOf(changes: StateChanges): ChangeRows {
  return readChangeRows(new ByteReader(encodeChanges(changes)));
}

/** Compares all that `chain` has touched after each of `blocks` blocks. */
function follow(seed: number, blocks: number, bytesMax: number, decodes?: boolean) {
  const latest = createLatest();
  const head = new HeadState(latest, bytesMax, decodes);
  const chain = new RandomChain(seed);
  const touched = new Map<Address, Set<Hash>>();
  for (let number = 0; number < blocks; number++) {
    const { changes } = chain.next().record;
    latest.state.apply(changes);
    head.apply(changes, rowsOf(changes));
    assert.ok(head.bytes <= bytesMax + ONE_ENTRY_BYTES);
    for (const { address, storage } of changes.accounts) {
      const slots = touched.get(address) ?? new Set();
      touched.set(address, slots);
      for (const slot of storage.keys()) slots.add(slot);
    }
    for (const [address, slots] of touched) {
      assert.deepEqual(head.decoded.account(address), latest.state.account(address));
      for (const slot of slots) {
        assert.equal(head.decoded.storage(address, slot), latest.state.storage(address, slot));
      }
    }
  }
}

describe("HeadState", () => {
  test("follows the head of any chain, however little it stores", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(8_000), fc.boolean(), (seed, bytesMax, decodes) =>
        follow(seed, 20, bytesMax, decodes),
      ),
      { numRuns: 40 },
    );
  });

  test("reads nothing twice, and nothing that the last block wrote", () => {
    const latest = createLatest();
    const head = new HeadState(latest, 1 << 20);
    const { changes } = new RandomChain(1).next().record;
    latest.state.apply(changes);
    head.apply(changes, rowsOf(changes));
    for (const { address, storage } of changes.accounts) {
      head.decoded.account(address);
      for (const slot of storage.keys()) head.decoded.storage(address, slot);
    }
    assert.equal(latest.reads(), 0);
    const unknown = `0x${"ff".repeat(32)}` as Hash;
    const { address } = changes.accounts[0]!;
    assert.equal(head.decoded.storage(address, unknown), 0n);
    assert.equal(head.decoded.storage(address, unknown), 0n);
    assert.equal(latest.reads(), 1);
  });

  test("reads again after it forgot", () => {
    const latest = createLatest();
    const head = new HeadState(latest, 1 << 20);
    const alice = `0x${"a1".repeat(20)}` as Address;
    assert.equal(head.decoded.account(alice), undefined);
    assert.equal(head.decoded.account(alice), undefined);
    assert.equal(latest.reads(), 1);
    const account = { nonce: 1n, balance: 2n, codeHash: `0x${"c0".repeat(32)}` as Hash };
    const change = { address: alice, account, storage: new Map(), storageCleared: false };
    latest.state.apply({ accounts: [change], codes: new Map() });
    head.forget();
    assert.deepEqual(head.decoded.account(alice), account);
  });
});

const ALICE = `0x${"a1".repeat(20)}` as Address;

/** An index in which the nonce of every account is the number of the block; slots have no values. It counts its reads. */
function countingIndex() {
  let reads = 0;
  return {
    reads: () => reads,
    accounts: {
      at(_key: Uint8Array, number: number) {
        reads++;
        return encodeAccount({ nonce: BigInt(number), balance: 0n, codeHash: EMPTY_CODE_HASH });
      },
    },
    slots: {
      at() {
        reads++;
        return undefined;
      },
    },
  };
}

describe("HistoricStates", () => {
  test("reads each value of a block once", () => {
    const index = countingIndex();
    const states = new HistoricStates(index, () => {}, 1 << 20);
    for (let round = 0; round < 3; round++) {
      for (const number of [1, 2]) {
        assert.equal(states.at(number).account(ALICE)?.nonce, BigInt(number));
        assert.equal(states.at(number).storage(ALICE, hashFromBigint(7n)), 0n);
      }
    }
    assert.equal(index.reads(), 4);
  });

  test("forgets the block used least recently, however many are asked for", () => {
    const index = countingIndex();
    const states = new HistoricStates(index, () => {}, 1 << 20, { statesMax: 2 });
    for (const number of [1, 2, 1, 3]) states.at(number).account(ALICE);
    assert.equal(index.reads(), 3);
    states.at(1).account(ALICE);
    assert.equal(index.reads(), 3);
    states.at(2).account(ALICE);
    assert.equal(index.reads(), 4);
  });

  test("takes no more memory than its limit for all states together", () => {
    const index = countingIndex();
    const bytesMax = 20_000;
    const states = new HistoricStates(index, () => {}, bytesMax);
    const read = () => {
      for (let number = 1; number <= 20; number++) {
        for (let i = 1n; i <= 9n; i++) {
          states.at(number).account(`0x${i.toString().repeat(40)}` as Address);
          states.at(number).storage(ALICE, hashFromBigint(i));
          assert.ok(states.bytes <= bytesMax);
        }
      }
    };
    read();
    assert.ok(states.bytes > bytesMax / 4);
    const first = index.reads();
    read();
    assert.ok(index.reads() > first);
  });

  test("asks after each read whether the state was removed meanwhile, and stores nothing then", () => {
    const index = countingIndex();
    let isPruned = true;
    const assertNotPruned = (number: number) => {
      assert.equal(number, 5);
      if (isPruned) throw new RangeError("pruned");
    };
    const states = new HistoricStates(index, assertNotPruned, 1 << 20);
    assert.throws(() => states.at(5).account(ALICE), RangeError);
    isPruned = false;
    assert.equal(states.at(5).account(ALICE)?.nonce, 5n);
    assert.equal(index.reads(), 2);
  });

  test("reads again after blocks were rolled back", () => {
    const index = countingIndex();
    const states = new HistoricStates(index, () => {}, 1 << 20);
    states.at(1).account(ALICE);
    states.forget();
    states.at(1).account(ALICE);
    assert.equal(index.reads(), 2);
  });
});

const hashOf = (n: number) => hashFromBigint(BigInt(n));

test("codes take no more bytes than their limit, and those read last stay", () => {
  const codes = new RecentCodes(1_000);
  for (let n = 0; n < 100; n++) {
    codes.add(hashOf(n), new Uint8Array(1 + ((n * 37) % 300)).fill(n));
    assert.equal(codes.get(hashOf(0))?.length, 1);
    assert.ok(codes.bytes <= 1_000);
  }
  let bytes = 0;
  for (let n = 0; n < 100; n++) bytes += codes.get(hashOf(n))?.length ?? 0;
  assert.equal(bytes, codes.bytes);
  assert.ok(bytes > 700);
  assert.equal(codes.get(hashOf(1)), undefined);
});

test("a code larger than the limit is not stored and removes no other", () => {
  const codes = new RecentCodes(100);
  codes.add(hashOf(1), new Uint8Array(60));
  codes.add(hashOf(2), new Uint8Array(101));
  assert.equal(codes.get(hashOf(2)), undefined);
  assert.equal(codes.get(hashOf(1))?.length, 60);
});
