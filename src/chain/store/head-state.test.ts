import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "../../../test/support/fast-check.ts";
import { type Address, addressFromBytes } from "../../primitives/address.ts";
import { bigintToBytes } from "../../primitives/bytes.ts";
import { type Hash, hashFromBytes } from "../../primitives/hash.ts";
import { createMemoryState } from "../../state/memory-state.ts";
import type { StateChanges } from "../../state/reader.ts";
import { ByteReader } from "../../storage/byte-io.ts";
import { type ChangeRows, encodeChanges, readChangeRows } from "../records/changes-record.ts";
import { encodeAccount } from "../testing/encode-account.ts";
import { RandomChain } from "../testing/random-chain.ts";
import { HeadState } from "./head-state.ts";

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
function follow(seed: number, blocks: number, bytesMax: number) {
  const latest = createLatest();
  const head = new HeadState(latest, bytesMax);
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
      assert.deepEqual(head.account(address), latest.state.account(address));
      for (const slot of slots) {
        assert.equal(head.storage(address, slot), latest.state.storage(address, slot));
      }
    }
  }
}

describe("HeadState", () => {
  test("follows the head of any chain, however little it stores", () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(8_000), (seed, bytesMax) => follow(seed, 20, bytesMax)),
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
      head.account(address);
      for (const slot of storage.keys()) head.storage(address, slot);
    }
    assert.equal(latest.reads(), 0);
    const unknown = `0x${"ff".repeat(32)}` as Hash;
    const { address } = changes.accounts[0]!;
    assert.equal(head.storage(address, unknown), 0n);
    assert.equal(head.storage(address, unknown), 0n);
    assert.equal(latest.reads(), 1);
  });

  test("reads again after it forgot", () => {
    const latest = createLatest();
    const head = new HeadState(latest, 1 << 20);
    const alice = `0x${"a1".repeat(20)}` as Address;
    assert.equal(head.account(alice), undefined);
    assert.equal(head.account(alice), undefined);
    assert.equal(latest.reads(), 1);
    const account = { nonce: 1n, balance: 2n, codeHash: `0x${"c0".repeat(32)}` as Hash };
    const change = { address: alice, account, storage: new Map(), storageCleared: false };
    latest.state.apply({ accounts: [change], codes: new Map() });
    head.forget();
    assert.deepEqual(head.account(alice), account);
  });
});
