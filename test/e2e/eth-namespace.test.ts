import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Hex, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { NEEDS_SOLO } from "../support/test-engine.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const [alice, bob] = DEV_ADDRESSES;
const BLOB = `0x${"00".repeat(131_072)}`;
let node: TestNode;

before(async () => {
  node = await startTestNode({ dev: true });
});
after(() => node.stop());

async function ask(method: string, ...params: readonly unknown[]) {
  const { result, error } = await callHttp(node.url, method, params);
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result;
}

async function signedTransfer(): Promise<Hex> {
  const nonce = Number(await ask("eth_getTransactionCount", alice, "pending"));
  return privateKeyToAccount(DEV_KEYS[0]).signTransaction({
    chainId: Number(await ask("eth_chainId")),
    nonce,
    to: bob,
    value: 1n,
    gas: 21_000n,
    maxFeePerGas: 10n ** 10n,
    maxPriorityFeePerGas: 10n ** 9n,
    type: "eip1559",
  });
}

test("eth_sendRawTransactionSync answers with the receipt", async () => {
  const receipt = await ask("eth_sendRawTransactionSync", await signedTransfer());
  assert.equal(receipt.status, "0x1");
  assert.deepEqual(await ask("eth_getTransactionReceipt", receipt.transactionHash), receipt);
  const tx = await ask("eth_getTransactionByHash", receipt.transactionHash);
  assert.deepEqual(await ask("eth_getTransactionBySenderAndNonce", alice, tx.nonce), tx);
});

test("eth_sendRawTransactionSync gives up with the hash where no block comes", async () => {
  const quiet = await startTestNode({ dev: true, settings: { "consensus.block-time": "manual" } });
  try {
    const raw = await signedTransfer();
    const { error } = await callHttp(quiet.url, "eth_sendRawTransactionSync", [raw, 50]);
    assert.equal(error.code, 4);
    assert.match(error.data, /^0x[0-9a-f]{64}$/);
  } finally {
    await quiet.stop();
  }
});

test("eth_fillTransaction makes commitments, proofs and hashes of blobs, and checks given ones", async () => {
  const request = { from: alice, to: bob, blobs: [BLOB] };
  const { tx, raw } = await ask("eth_fillTransaction", request);
  assert.equal(tx.type, "0x3");
  assert.equal(tx.blobVersionedHashes.length, 1);
  assert.equal(tx.proofs.length, 128);
  assert.ok(raw.length > BLOB.length);
  const { commitments, proofs } = tx;
  const again = await ask("eth_fillTransaction", { ...request, commitments, proofs });
  assert.deepEqual(again.tx.blobVersionedHashes, tx.blobVersionedHashes);
  const hashes = [`0x01${"00".repeat(31)}`];
  const { error } = await callHttp(node.url, "eth_fillTransaction", [
    { ...request, commitments, proofs, blobVersionedHashes: hashes },
  ]);
  assert.equal(error.code, -32000);
});

test("eth_simulateV1 and debug_traceCall run on the pending and the latest block", async () => {
  const call = { from: alice, to: bob, value: "0x5" };
  const first = Number(await ask("eth_blockNumber"));
  const [block] = await ask(
    "eth_simulateV1",
    { blockStateCalls: [{ calls: [call] }], traceTransfers: true },
    "pending",
  );
  assert.equal(block.calls[0].logs.length, 1);
  // A network makes blocks meanwhile.
  const last = Number(await ask("eth_blockNumber"));
  const head = Number(block.number) - 2;
  assert.ok(first <= head && head <= last, `${first} <= ${head} <= ${last}`);
  const frame = await ask("debug_traceCall", call, "latest", { tracer: "callTracer" });
  assert.equal(frame.value, "0x5");
});

test("debug_traceCall before a transaction of genesis is an error, at every index", async () => {
  for (const txIndex of ["0x0", "0x5"]) {
    const params = [{ from: alice, to: bob }, "0x0", { txIndex }];
    const { error } = await callHttp(node.url, "debug_traceCall", params);
    assert.deepEqual(error, { code: -32000, message: "no transaction in genesis" });
  }
  assert.equal((await ask("debug_traceCall", { from: alice, to: bob }, "0x0")).failed, false);
});

test("eth_callMany lets a call see the one before", async () => {
  const broke = `0x${"ab".repeat(20)}`;
  const give = { from: alice, to: broke, value: "0x5" };
  const spend = { from: broke, to: bob, value: "0x5" };
  const [outcomes] = await ask("eth_callMany", [{ transactions: [spend, give, spend] }], {});
  assert.ok("error" in outcomes[0]);
  assert.deepEqual(outcomes.slice(1), [{ value: "0x" }, { value: "0x" }]);
});

test("eth_getAccount and eth_getAccountInfo show an account whole", async () => {
  const fresh = DEV_ADDRESSES[2];
  const { balance, nonce, storageRoot } = await ask("eth_getAccount", fresh, "latest");
  assert.deepEqual([BigInt(balance), nonce], [parseEther("10000"), "0x0"]);
  assert.match(storageRoot, /^0x56e81f17/);
  const info = await ask("eth_getAccountInfo", fresh, "latest");
  assert.deepEqual(info, { balance, nonce, code: "0x" });
  assert.equal(await ask("eth_getAccount", `0x${"12".repeat(20)}`, "latest"), null);
});

test("testing_commitBlockV1 makes the block it built the head", { skip: NEEDS_SOLO }, async () => {
  const head = await ask("eth_getBlockByNumber", "latest", false);
  const attributes = {
    timestamp: `0x${(Number(head.timestamp) + 5).toString(16)}`,
    prevRandao: `0x${"07".repeat(32)}`,
    suggestedFeeRecipient: bob,
    withdrawals: [],
    parentBeaconBlockRoot: `0x${"08".repeat(32)}`,
  };
  const built = await ask("testing_buildBlockV1", head.hash, attributes, [], "0xaa");
  assert.equal((await ask("eth_getBlockByNumber", "latest", false)).hash, head.hash);
  const hash = await ask("testing_commitBlockV1", attributes, [], "0xaa");
  assert.equal(hash, built.executionPayload.blockHash);
  assert.equal((await ask("eth_getBlockByNumber", "latest", false)).hash, hash);
});

test("proof-of-work methods answer as on a chain without work", async () => {
  const miner = `0x${"01".repeat(32)}`;
  assert.equal(await ask("eth_mining"), true);
  assert.equal(await ask("eth_submitHashrate", `0x${"5".padStart(64, "0")}`, miner), true);
  assert.equal(await ask("eth_hashrate"), "0x5");
  assert.equal(await ask("eth_submitWork", "0x0000000000000001", miner, miner), false);
  const { error } = await callHttp(node.url, "eth_getWork");
  assert.deepEqual(error, { code: -32000, message: "no mining work available yet" });
});

test("rpc_discover describes every method by its parameters", async () => {
  const { openrpc, methods } = await ask("rpc_discover");
  assert.match(openrpc, /^1\./);
  const call = methods.find(({ name }: { name: string }) => name === "eth_call");
  assert.deepEqual(
    call.params.map(({ name, required }: { name: string; required: boolean }) => [name, required]),
    [
      ["request", true],
      ["block", false],
      ["stateOverrides", false],
      ["blockOverrides", false],
    ],
  );
});
