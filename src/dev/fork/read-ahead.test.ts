import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  BEACON_ROOTS_ADDRESS,
  BUILDER_EXIT_REQUEST_ADDRESS,
  CONSOLIDATION_REQUEST_ADDRESS,
  HISTORY_STORAGE_ADDRESS,
  WITHDRAWAL_REQUEST_ADDRESS,
} from "../../base/params/gas.ts";
import { addressFromWord } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { ForkAnswerError } from "./errors.ts";
import { ForkCache } from "./fork-cache.ts";
import { createPrefetch } from "./prefetch.ts";
import { cachedCalls, cachedSyncCalls, firstReads, readAhead } from "./read-ahead.ts";
import type { RemoteCall, SyncRemoteCalls } from "./remote-calls.ts";
import { RemoteState } from "./remote-state.ts";

const folder = mkdtempSync(join(tmpdir(), "evmint-read-ahead-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const openCache = () => new ForkCache(join(folder, `${files++}.jsonl`), 1 << 20);

const stateOf = (call: SyncRemoteCalls, cache: ForkCache, block = 7) =>
  new RemoteState({ block, bytesMax: 1 << 20 }, { call, cache });

const [ALICE, TOKEN, ORACLE] = [1n, 2n, 3n].map((word) => addressFromWord(word)) as [
  ...ReturnType<typeof addressFromWord>[],
];
const word = (value: bigint) => hashFromBigint(value);

/** The value of a slot is its number, so that one result in place of another is seen. */
function resultOf({ method, params }: RemoteCall): unknown {
  if (method === "eth_getStorageAt") return params[1];
  if (method === "eth_createAccessList") {
    return { accessList: [{ address: ORACLE, storageKeys: [word(5n), word(6n)] }] };
  }
  return method === "eth_getCode" ? "0x00" : "0x1";
}

test("readAhead: slots of system contracts cost one request in many blocks, those of others one each", () => {
  const cache = openCache();
  const requests: number[] = [];
  const call = (calls: readonly RemoteCall[]) => {
    requests.push(calls.length);
    return calls.map(resultOf);
  };
  const state = stateOf(cachedSyncCalls(readAhead(call, cache), cache), cache);
  for (let block = 0n; block < 32n; block++) {
    for (const [address, slot] of [
      [HISTORY_STORAGE_ADDRESS, 100n + block],
      [BEACON_ROOTS_ADDRESS, 500n + block],
      [BEACON_ROOTS_ADDRESS, 8691n + block],
      [WITHDRAWAL_REQUEST_ADDRESS, block % 4n],
    ] as const) {
      assert.equal(state.storage(address, word(slot)), slot);
    }
  }
  assert.deepEqual(requests, [32, 64, 4]);
  for (const slot of [1n, 2n]) assert.equal(state.storage(TOKEN!, word(slot)), slot);
  assert.deepEqual(requests.slice(3), [1, 1]);
});

test("firstReads has what the system calls of the first blocks read", async () => {
  const cache = openCache();
  await cachedCalls(async (calls) => calls.map(resultOf), cache)(firstReads({ number: 8190 }, 9000, "amsterdam"));
  const offline = cachedSyncCalls(() => assert.fail("it is in the cache"), cache);
  const state = stateOf(offline, cache, 8190);
  for (const [address, slot] of [
    [HISTORY_STORAGE_ADDRESS, 8190n],
    [BEACON_ROOTS_ADDRESS, 809n],
    [BEACON_ROOTS_ADDRESS, 9000n + 31n],
    [WITHDRAWAL_REQUEST_ADDRESS, 3n],
    [CONSOLIDATION_REQUEST_ADDRESS, 0n],
    [BUILDER_EXIT_REQUEST_ADDRESS, 3n],
  ] as const) {
    assert.equal(state.account(address)?.balance, 1n);
    assert.equal(state.storage(address, word(slot)), slot);
  }
});

test("createPrefetch reads the accounts of a call, its access list, and that of the remote node in two rounds, once", async () => {
  const cache = openCache();
  const requests: (readonly RemoteCall[])[] = [];
  const call = cachedCalls(async (calls) => {
    requests.push(calls);
    return calls.map(resultOf);
  }, cache);
  const prefetch = createPrefetch(call, "0x7");
  const accessList = [{ address: TOKEN!, storageKeys: [word(9n)] }];
  const request = { from: ALICE, to: TOKEN, data: "0xa9059cbb00", accessList };
  await prefetch(request, () => []);
  assert.equal(requests.length, 3);
  const later = stateOf(
    cachedSyncCalls(() => assert.fail("everything is in the cache"), cache),
    cache,
  );
  for (const address of [ALICE!, TOKEN!, ORACLE!]) assert.equal(later.account(address)?.balance, 1n);
  assert.equal(later.storage(TOKEN!, word(9n)), 9n);
  assert.equal(later.storage(ORACLE!, word(6n)), 6n);
  await prefetch({ ...request, data: "0xa9059cbb01" }, () => []);
  assert.equal(requests.length, 3);
});

test("createPrefetch is a hint: a remote node that fails is no error", async () => {
  const prefetch = createPrefetch(async () => {
    throw new ForkAnswerError("no");
  }, "0x7");
  await prefetch({ from: ALICE, to: TOKEN, data: "0x01020304" }, () => []);
});

test("what contracts of this chain read of the remote one is found by executing the call: one request for all that depends on nothing unread", async () => {
  const cache = openCache();
  const requests: number[] = [];
  const call = cachedCalls(async (calls) => {
    requests.push(calls.length);
    return calls.map((each) => (each.method === "eth_createAccessList" ? { accessList: [] } : resultOf(each)));
  }, cache);
  const state = stateOf(
    cachedSyncCalls(() => assert.fail("everything is in the cache"), cache),
    cache,
  );
  /** Reads ten slots, then one whose number is in the tenth, and fails where the account is not there. */
  const execute = () => {
    const account = state.account(ORACLE!);
    for (let slot = 1n; slot <= 10n; slot++) state.storage(ORACLE!, word(slot));
    const next = state.storage(ORACLE!, word(10n)) + 100n;
    if (account === undefined) throw new Error("no code");
    return state.storage(ORACLE!, word(next));
  };
  const prefetch = createPrefetch(call, "0x7");
  const request = { from: ALICE, to: TOKEN, data: "0x01020304" };
  await prefetch(request, () => state.missedBy(execute));
  assert.deepEqual(requests.slice(2), [14, 1]);
  // Nothing that was supposed meanwhile is left over.
  assert.equal(execute(), 110n);
});
