import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { createMemoryState } from "../../../test/support/evm/state/memory-state.ts";
import fc from "../../../test/support/fast-check.ts";
import { type Address, addressToBytes } from "../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../base/primitives/bytes.ts";
import { hashFromBigint, hashFromBytes, hashToBytes } from "../../base/primitives/hash.ts";
import { bytesToHex } from "../../base/primitives/hex.ts";
import { keccak256 } from "../../base/primitives/keccak.ts";
import { EMPTY_ACCOUNT } from "../../evm/state/account.ts";
import type { Kv } from "../../store/storage/kv.ts";
import { createMemoryKv } from "../../store/storage/memory-kv.ts";
import {
  addressesFrom,
  addressWithHash,
  type HashedKeys,
  slotWithHash,
  writeHashedAddress,
  writeHashedSlot,
} from "../store/state/hashed-keys.ts";
import { dumpState, findPreimage, storageRange } from "./state-dump.ts";

const addressOf = (index: number) => `0x${index.toString(16).padStart(40, "0")}` as Address;
const hashOf = (key: Uint8Array) => hashFromBytes(keccak256(key));
const inOrder = (addresses: readonly Address[]) =>
  [...addresses].sort((a, b) => (hashOf(addressToBytes(a)) < hashOf(addressToBytes(b)) ? -1 : 1));

/** The keys of a store in which `merged` are in the tables and `unmerged` in memory, some maybe in both. */
function keysOf(
  merged: readonly Address[],
  unmerged: readonly Address[],
  onRead: () => void = () => {},
): { readonly kv: Kv; readonly keys: HashedKeys } {
  const kv = createMemoryKv();
  kv.transaction((writer) => {
    for (const address of merged) writeHashedAddress(writer, addressToBytes(address));
  });
  const keys: HashedKeys = {
    *addressesFrom(start) {
      for (const each of addressesFrom(kv, start)) {
        onRead();
        yield each;
      }
    },
    unmergedAddresses: () => unmerged.map(addressToBytes),
    addressWithHash: (hash) => addressWithHash(kv, hash),
    slotWithHash: (address, hash) => slotWithHash(kv, address, hash),
    unmergedSlots: () => [],
  };
  return { kv, keys };
}

function sourceOf(existing: readonly Address[], keys: HashedKeys) {
  const account = { ...EMPTY_ACCOUNT, nonce: 1n };
  const known = new Set(existing);
  const state = {
    ...createMemoryState(),
    account: (address: Address) => (known.has(address) ? account : undefined),
  };
  return { state, keys, storageRootOf: () => undefined };
}

const OPTIONS = { withCode: false, withStorage: false, take() {}, resumed() {} };

describe("dumpState", () => {
  test("pages have every account of the state once, in the order of the hashes", async () => {
    const indices = fc.uniqueArray(fc.integer({ min: 1, max: 2_000 }), { maxLength: 600 });
    await fc.assert(
      fc.asyncProperty(
        indices,
        indices,
        fc.integer({ min: 1, max: 200 }),
        fc.integer({ min: 1, max: 4 }),
        async (inTable, inMemory, accountsMax, every) => {
          const merged = inTable.map(addressOf);
          const unmerged = inMemory.map(addressOf);
          const all = [...new Set([...merged, ...unmerged])];
          // The others have an account in another block only.
          const existing = all.filter((_, i) => i % every === 0);
          const { keys } = keysOf(merged, unmerged);
          const source = sourceOf(existing, keys);
          const found: Address[] = [];
          let start: Uint8Array = EMPTY_BYTES;
          for (;;) {
            const page = await dumpState(source, { ...OPTIONS, start, accountsMax });
            found.push(...page.accounts.map(({ address }) => address));
            if (page.next === undefined) break;
            assert.equal(page.accounts.length, accountsMax);
            start = hashToBytes(page.next);
          }
          assert.deepEqual(found, inOrder(existing));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("a page of a large state reads little more than the page", async () => {
    const merged = Array.from({ length: 10_000 }, (_, i) => addressOf(i + 1));
    let read = 0;
    const { keys } = keysOf(merged, [], () => read++);
    const page = { ...OPTIONS, start: new Uint8Array(32).fill(0x80), accountsMax: 25 };
    const { accounts } = await dumpState(sourceOf(merged, keys), page);
    assert.equal(accounts.length, 25);
    assert.equal(read, 26);
  });
});

test("dumpState pauses by the bytes of code and the slots that it read, not by accounts alone", async () => {
  const existing = Array.from({ length: 40 }, (_, i) => addressOf(i + 1));
  const { keys } = keysOf(existing, []);
  const slots = Array.from({ length: 1_000 }, (_, i) => [hashOf(Uint8Array.of(i >> 8, i & 255)), 1n] as const);
  const pausesOf = async (codeBytes: number, slotCount: number) => {
    let pauses = 0;
    const source = sourceOf(existing, keys);
    const account = { ...EMPTY_ACCOUNT, codeHash: hashOf(Uint8Array.of(7)) };
    const state = {
      ...source.state,
      account: () => account,
      code: () => new Uint8Array(codeBytes),
      storageEntries: () => slots.slice(0, slotCount),
    };
    const resumed = () => void pauses++;
    const options = { ...OPTIONS, withCode: true, withStorage: true, start: EMPTY_BYTES, accountsMax: 40, resumed };
    await dumpState({ ...source, state }, options);
    return pauses;
  };
  assert.equal(await pausesOf(128 << 10, 0), 40);
  // Of one account too: 40 of 1,000 slots each.
  const pauses = await pausesOf(0, 1_000);
  assert.ok(pauses > 5 * 40, `${pauses}`);
  assert.equal(await pausesOf(0, 0), 2);
});

describe("findPreimage", () => {
  const never = () => {};

  test("finds addresses and slots, in the tables and in memory", async () => {
    const address = addressToBytes(addressOf(7));
    const slot = new Uint8Array(32).fill(9);
    const recentSlot = new Uint8Array(32).fill(10);
    const { kv, keys } = keysOf([addressOf(7), addressOf(8)], [addressOf(9)]);
    kv.transaction((writer) => writeHashedSlot(writer, Buffer.concat([address, slot])));
    const all = {
      ...keys,
      unmergedSlots: () => [Buffer.concat([address, recentSlot])],
    };
    for (const key of [address, addressToBytes(addressOf(9)), slot, recentSlot]) {
      const found = await findPreimage(hashOf(key), all, never);
      assert.equal(found && bytesToHex(found), bytesToHex(key));
    }
    assert.equal(await findPreimage(hashOf(addressToBytes(addressOf(1))), all, never), undefined);
  });

  test("stops when there is no time left", async () => {
    class Stopped extends Error {}
    const { keys } = keysOf(
      Array.from({ length: 5_000 }, (_, i) => addressOf(i + 1)),
      [],
    );
    const stop = () => {
      throw new Stopped();
    };
    await assert.rejects(findPreimage(hashOf(EMPTY_BYTES), keys, stop), Stopped);
  });
});

test("dumpState lets other work run within the storage of one account, and stops where its block is gone", async () => {
  class Gone extends Error {}
  const slots = Array.from({ length: 5_000 }, (_, i) => hashFromBigint(BigInt(i)));
  const { keys } = keysOf([addressOf(1)], []);
  const source = sourceOf([addressOf(1)], keys);
  const state = { ...source.state, storageEntries: () => slots.map((slot) => [slot, 1n] as const) };
  const options = { start: EMPTY_BYTES, accountsMax: 10, withCode: false, withStorage: true, take() {} };
  let pauses = 0;
  const resumed = () => void pauses++;
  const { accounts } = await dumpState({ ...source, state }, { ...options, resumed });
  assert.equal(accounts[0]!.storage.length, slots.length);
  assert.ok(pauses > 10, `${pauses} pauses`);
  const gone = () => {
    throw new Gone();
  };
  await assert.rejects(dumpState({ ...source, state }, { ...options, resumed: gone }), Gone);
});

test("storageRange pauses after each slot, and has the lowest hashes of many in order", () => {
  const slots = Array.from({ length: 1_000 }, (_, i) => hashFromBigint(BigInt(i)));
  const state = { ...createMemoryState(), storageEntries: () => slots.map((slot) => [slot, 1n] as const) };
  const steps = storageRange(state, addressOf(1), EMPTY_BYTES, 3);
  let pauses = 0;
  let step = steps.next();
  for (; !step.done; step = steps.next()) pauses++;
  assert.equal(pauses, slots.length);
  const hashes = slots.map((slot) => hashOf(hashToBytes(slot))).sort();
  assert.deepEqual(
    step.value.slots.map(({ hash }) => hash),
    hashes.slice(0, 3),
  );
  assert.equal(step.value.next, hashes[3]);
});
