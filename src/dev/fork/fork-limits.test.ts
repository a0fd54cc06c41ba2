import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { addressFromWord } from "../../base/primitives/address.ts";
import { hashFromBigint } from "../../base/primitives/hash.ts";
import { ForkCache } from "./fork-cache.ts";
import { cachedSyncCalls } from "./read-ahead.ts";
import type { RemoteCall } from "./remote-calls.ts";
import { RemoteState } from "./remote-state.ts";

/** Both parts of `FORK_CACHE_LIMITS.bytesMax`. */
const CACHE_BYTES = 8_000;
const ACCOUNT_BYTES = 4_000;
const CODE = `0x${"5b".repeat(500)}`;

const resultOf = ({ method }: RemoteCall) => (method === "eth_getCode" ? CODE : "0x1");

test("one limit bounds results, their file and decoded accounts together; what does not fit is read again, the same", (context) => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-fork-limits-"));
  context.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "cache.jsonl");
  let asked = 0;
  const open = () => {
    const cache = new ForkCache(path, CACHE_BYTES);
    const call = (calls: readonly RemoteCall[]) => {
      asked += calls.length;
      return calls.map(resultOf);
    };
    const state = new RemoteState({ block: 7, bytesMax: ACCOUNT_BYTES }, { call: cachedSyncCalls(call, cache), cache });
    return { cache, state };
  };
  const { cache, state } = open();
  const addresses = Array.from({ length: 100 }, (_, i) => addressFromWord(BigInt(i + 1)));
  for (const address of addresses) {
    assert.equal(state.account(address)!.code.length, 500);
    assert.equal(state.storage(address, hashFromBigint(1n)), 1n);
    // The account that was read last may be over the limit.
    assert.ok(cache.bytes + state.bytes <= CACHE_BYTES + ACCOUNT_BYTES + 1_000);
  }
  assert.ok(cache.rejected > 0);
  assert.ok(statSync(path).size <= CACHE_BYTES * 1.5);
  const before = asked;
  assert.equal(state.account(addresses[0]!)!.balance, 1n);
  assert.equal(asked, before, "the first results are in the cache");
  assert.equal(state.account(addresses[50]!)!.balance, 1n);
  assert.ok(asked > before, "later ones are asked for again");
  assert.ok(open().cache.bytes <= CACHE_BYTES);
});
