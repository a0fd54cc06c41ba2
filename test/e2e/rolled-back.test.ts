import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { IS_NIGHTLY } from "../support/nightly.ts";
import { NEEDS_SOLO } from "../support/test-engine.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const [FROM] = DEV_ADDRESSES;
/** More than any piece of work reads before it pauses. */
const TRANSFERS = 400;
/** Of the event loop, before the block goes. With a change each call has one of them. */
const TURNS = [1, 2, 5] as const;

let running: TestNode;
let receivers = 0;
before(async () => {
  running = await startTestNode({ dev: true, settings: { "json-rpc.api": "all" } });
});
after(() => running.stop());

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever came back
function request(method: string, ...params: unknown[]): Promise<any> {
  return running.node.provider.request({ method, params });
}

/** A block with transfers to accounts that were empty. */
async function mineTransfers(count: number): Promise<{ readonly hash: string; readonly number: string }> {
  await request("evm_setAutomine", false);
  for (let i = 0; i < count; i++) {
    const to = `0x${(0x1000 + receivers++).toString(16).padStart(40, "0")}`;
    await request("eth_sendTransaction", { from: FROM, to, value: "0x1", gas: "0x5208" });
  }
  await request("evm_mine");
  return request("eth_getBlockByNumber", "latest", false);
}

/** Of a block that is gone when they end. */
const CALLS: readonly ((block: {
  readonly hash: string;
  readonly number: string;
}) => readonly [string, ...unknown[]])[] = [
  () => ["eth_getBlockByNumber", "latest", true],
  () => ["eth_getBlockReceipts", "latest"],
  () => ["eth_feeHistory", "0x4", "latest", [50]],
  () => ["eth_getProof", FROM, Array.from({ length: 64 }, (_, i) => `0x${i.toString(16)}`), "latest"],
  () => ["debug_getRawReceipts", "latest"],
  () => ["debug_dumpBlock", "latest"],
  () => ["debug_accountRange", "latest", "0x", 256, true, true, false],
  () => ["debug_stateSize", "latest"],
  ({ number }) => ["debug_getModifiedAccountsByNumber", "0x0", number],
  ({ hash }) => ["debug_getModifiedAccountsByHash", hash],
  ({ hash }) => ["debug_intermediateRoots", hash],
  ({ hash }) => ["debug_executionWitnessByHash", hash],
  () => ["debug_executionWitness", "latest"],
  () => ["trace_block", "latest"],
  () => ["trace_filter", { fromBlock: "latest", toBlock: "latest" }],
  () => ["ots_getBlockTransactions", "latest", 0, 25],
  () => ["erigon_getBalanceChangesInBlock", "latest"],
  ({ number }) => ["eth_getLogs", { fromBlock: "0x0", toBlock: number }],
];

for (const [index, callOf] of CALLS.entries()) {
  const [name] = callOf({ hash: "", number: "" });
  test(`${name} of a block that is removed meanwhile answers, or says that the block is gone (${index})`, {
    skip: NEEDS_SOLO,
  }, async () => {
    for (const turns of IS_NIGHTLY ? TURNS : [TURNS[index % TURNS.length]!]) {
      const snapshot = await request("evm_snapshot");
      const block = await mineTransfers(TRANSFERS);
      const [method, ...params] = callOf(block);
      const outcome = request(method, ...params).then(
        () => undefined,
        (error: { readonly code: number; readonly message: string }) => error,
      );
      for (let turn = 0; turn < turns; turn++) await setImmediate();
      await request("evm_revert", snapshot);
      await mineTransfers(1);
      const error = await outcome;
      assert.notEqual(error?.code, -32603, error?.message);
    }
  });
}

test("a dump is never of two chains", { skip: NEEDS_SOLO }, async () => {
  for (const turns of [1, 2, 3, 4, 6, 8]) {
    const snapshot = await request("evm_snapshot");
    await mineTransfers(TRANSFERS);
    const whole = await request("debug_dumpBlock", "latest");
    const interrupted = request("debug_dumpBlock", "latest").catch(({ message }) => message);
    for (let turn = 0; turn < turns; turn++) await setImmediate();
    await request("evm_revert", snapshot);
    await mineTransfers(1);
    const outcome = await interrupted;
    if (typeof outcome === "string") assert.equal(outcome, "header not found");
    else assert.deepEqual(outcome, whole);
  }
});
