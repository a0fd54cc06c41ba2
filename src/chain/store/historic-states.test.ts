import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Address } from "../../primitives/address.ts";
import { hashFromBigint } from "../../primitives/hash.ts";
import { EMPTY_CODE_HASH } from "../../state/account.ts";
import { encodeAccount } from "../testing/encode-account.ts";
import { HistoricStates } from "./historic-states.ts";

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
