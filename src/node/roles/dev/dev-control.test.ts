/** What a caller sets by hand on a dev chain, where tools rely on what comes of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGwei } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_KEYS } from "../../../../test/support/accounts.ts";
import { overHttp } from "../../../../test/support/clients.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../../../../test/support/test-node.ts";
import { toQuantity } from "../../../base/primitives/quantity.ts";
import { createNode, type EvmintNode } from "../../../index.ts";

const POOR = "0x00000000000000000000000000000000000beef1";
const TO = "0x00000000000000000000000000000000000000aa";

const start = (settings: Record<string, string> = {}) => createNode({ settings });
const ask = async <T = unknown>({ provider }: EvmintNode, method: string, ...params: unknown[]) =>
  (await provider.request({ method, params })) as T;

async function statusOf({ rpc }: EvmintNode, hash: `0x${string}`) {
  return Number((await rpc.eth_getTransactionReceipt(hash))?.status);
}

async function timeOf({ rpc }: EvmintNode) {
  return Number((await rpc.eth_getBlockByNumber("latest", false))!.timestamp);
}

test("a transaction of price 0 is filled in, signed, sent and mined where the next block has no base fee", async () => {
  await using node = await start();
  const [alice] = await node.rpc.eth_accounts();
  await node.impersonateAccount(POOR);
  const free = async (fees: object, from: `0x${string}` = POOR) => {
    await node.setNextBlockBaseFeePerGas("0x0");
    const request = { from, to: TO, gas: "0x5208", ...fees } as const;
    await node.rpc.eth_fillTransaction(request);
    return statusOf(node, await node.rpc.eth_sendTransaction(request));
  };
  assert.equal(await free({ gasPrice: "0x0" }), 1);
  assert.equal(await free({ maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" }), 1);
  assert.equal(await free({ maxFeePerGas: "0x0" }), 1);
  assert.equal(await free({ gasPrice: "0x0" }, alice), 1);
  assert.equal(Number(await node.rpc.eth_getBalance(POOR)), 0);
  const signed = await node.rpc.eth_signTransaction({
    ...{ from: alice!, to: TO, gas: "0x5208", nonce: "0x1", gasPrice: "0x0" },
  });
  await node.setNextBlockBaseFeePerGas("0x0");
  assert.equal(await statusOf(node, await node.rpc.eth_sendRawTransaction(signed.raw)), 1);
});

test("a price of 0 is rejected by the base fee, where there is one, and not by its being 0", async () => {
  await using node = await start();
  const [from] = await node.rpc.eth_accounts();
  await assert.rejects(node.rpc.eth_sendTransaction({ from: from!, to: TO, gasPrice: "0x0" }), {
    message: /max fee per gas less than block base fee/,
  });
});

test("with --base-fee 0 an account without ether sends raw transactions of price 0", async () => {
  await using node = await start({ "base-fee": "0" });
  const account = privateKeyToAccount(`0x${"77".repeat(32)}`);
  const common = { to: TO, gas: 21_000n, chainId: 31_337 } as const;
  const legacy = await account.signTransaction({ ...common, nonce: 0, gasPrice: 0n, type: "legacy" });
  const market = await account.signTransaction({ ...common, nonce: 1, maxFeePerGas: 0n, maxPriorityFeePerGas: 0n });
  for (const raw of [legacy, market]) {
    assert.equal(await statusOf(node, await node.rpc.eth_sendRawTransaction(raw)), 1);
  }
});

test("a revert leaves impersonation, automine, interval, logging as they are, and takes back what blocks are made with", async () => {
  await using node = await start();
  const id = await node.snapshot();
  const limit = (await node.rpc.eth_getBlockByNumber("latest", false))!.gasLimit;
  await node.impersonateAccount(POOR);
  await node.setAutomine(false);
  await node.rpc.evm_setIntervalMining(3_600_000);
  await node.setBlockGasLimit(20_000_000);
  await node.setCoinbase(TO);
  assert.equal(await node.revert(id), true);
  assert.equal(await node.getAutomine(), false);
  assert.equal(await node.rpc.anvil_getIntervalMining(), 3_600);
  await node.setBalance(POOR, 10n ** 18n);
  const hash = await node.rpc.eth_sendTransaction({ from: POOR, to: TO, value: "0x1" });
  await node.mine();
  assert.equal(await statusOf(node, hash), 1);
  const block = (await node.rpc.eth_getBlockByNumber("latest", false))!;
  assert.deepEqual([block.gasLimit, block.miner === TO], [limit, false]);
  // What was set before the snapshot, and changed back after it, stays changed, too.
  const second = await node.snapshot();
  await node.stopImpersonatingAccount(POOR);
  await node.setAutomine(true);
  await node.revert(second);
  assert.equal(await node.getAutomine(), true);
  await assert.rejects(node.rpc.eth_sendTransaction({ from: POOR, to: TO, value: "0x1" }));
});

test("anvil_mine with seconds between blocks begins from the time that was set, and from the clock that was moved", async () => {
  await using node = await start();
  const mine = async (blocks: number, seconds: number) => {
    const before = await timeOf(node);
    await node.rpc.anvil_mine(blocks, seconds);
    return (await timeOf(node)) - before;
  };
  assert.equal(await mine(3, 10), 30);
  await node.setNextBlockTimestamp((await timeOf(node)) + 5_000);
  assert.equal(await mine(3, 10), 5_020);
  await node.setNextBlockTimestamp((await timeOf(node)) + 5_000);
  assert.equal(await mine(1, 1), 5_000);
  const head = await timeOf(node);
  await node.setTime(head + 1_000);
  const moved = await mine(3, 10);
  assert.ok(moved >= 1_030 && moved < 1_090, `${moved}`);
  assert.equal(await mine(1, 7), 7);
  await node.increaseTime(1_000);
  const id = await node.snapshot();
  await node.revert(id);
  const increased = await mine(3, 10);
  assert.ok(increased >= 1_030 && increased < 1_090, `${increased}`);
});

test("evm_setIntervalMining has anvil's seconds in anvil's dialect alone", async () => {
  await using hardhats = await start();
  await hardhats.rpc.evm_setIntervalMining(7_200_000);
  assert.equal(await hardhats.rpc.anvil_getIntervalMining(), 7_200);
  await using anvils = await start({ dialect: "anvil" });
  await anvils.rpc.evm_setIntervalMining(7_200);
  assert.equal(await anvils.rpc.anvil_getIntervalMining(), 7_200);
  assert.equal(await anvils.getAutomine(), false);
  await anvils.setAutomine(true);
  assert.equal(await anvils.rpc.anvil_getIntervalMining(), null);
  await anvils.rpc.evm_setIntervalMining(0);
  assert.equal(await anvils.getAutomine(), true);
});

test("an account of a known key sends, by the node and raw, after it was given code", async () => {
  await using node = await start();
  const account = privateKeyToAccount(DEV_KEYS[1]!);
  await node.setCode(account.address, "0x60016000f3");
  const byNode = await node.rpc.eth_sendTransaction({ from: account.address, to: TO, value: "0x1" });
  assert.equal(await statusOf(node, byNode), 1);
  const raw = await account.signTransaction({
    ...{ to: TO, value: 1n, gas: 21_000n, nonce: 1, chainId: 31_337 },
    ...{ maxFeePerGas: parseGwei("9"), maxPriorityFeePerGas: 1n },
  });
  const hash = await node.rpc.eth_sendRawTransaction(raw);
  assert.equal(await statusOf(node, hash), 1);
  const trace = await ask<{ from: string }>(node, "debug_traceTransaction", hash, { tracer: "callTracer" });
  assert.equal(trace.from, account.address.toLowerCase());
  await node.setAutomine(false);
  const waiting: `0x${string}`[] = [];
  for (const value of ["0x1", "0x2", "0x3"] as const) {
    waiting.push(await node.rpc.eth_sendTransaction({ from: account.address, to: TO, value }));
  }
  await node.rpc.eth_sendTransaction({ from: account.address, to: TO, nonce: "0x64" });
  await node.mine();
  for (const each of waiting) assert.equal(await statusOf(node, each), 1);
});

test("a call that makes blocks is answered when they are made, however long it takes, alone and in a batch", async () => {
  const node = await startTestNode({ dev: true, limits: { server: { httpCallTimeoutMs: 100 } } });
  try {
    const call = (id: number) => ({ jsonrpc: "2.0", id, method: "hardhat_mine", params: ["0x12c"] });
    const post = async (body: unknown) => {
      const headers = { "content-type": "application/json" };
      return (await fetch(node.url, { method: "POST", headers, body: JSON.stringify(body) })).json();
    };
    type Answer = { readonly result?: boolean; readonly error?: { readonly code: number } };
    let made = 0;
    for (const body of [[call(1)], [call(2), call(3)]]) {
      const answers = (await post(body)) as readonly Answer[];
      // A call that had not begun in time is not run, and says so.
      for (const { result, error } of answers) assert.ok(result === true || error?.code === -32002);
      made += 300 * answers.filter(({ result }) => result === true).length;
      assert.equal(Number((await overHttp(node.url, "eth_blockNumber")).result), made);
    }
    assert.ok(made > 0);
  } finally {
    await node.stop();
  }
});

/** The error object of a call that fails. */
async function failure(node: EvmintNode, method: string, ...params: unknown[]) {
  const error = await ask(node, method, ...params).then(
    (result) => assert.fail(`${method}: ${JSON.stringify(result)}`),
    (thrown: { code: number; message: string }) => thrown,
  );
  return [error.code, error.message];
}

test("errors of anvil's dialect have its codes and texts", async () => {
  await using node = await start({ dialect: "anvil" });
  const [from] = await node.rpc.eth_accounts();
  const send = (more: object) => failure(node, "eth_sendTransaction", { from, to: TO, ...more });
  const call = (more: object) => failure(node, "eth_call", { from, to: TO, ...more }, "latest");
  const funds = [-32003, "Insufficient funds for gas * price + value"];
  assert.deepEqual(await send({ value: `0x${"f".repeat(28)}` }), funds);
  assert.deepEqual(await call({ value: `0x${"f".repeat(28)}` }), funds);
  assert.deepEqual(await send({ gas: "0x64" }), [-32000, "intrinsic gas too low"]);
  assert.deepEqual(await call({ gas: "0x64" }), [-32000, "intrinsic gas too high -- CallGasCostMoreThanGasLimit"]);
  assert.deepEqual(await send({ gasPrice: "0x1" }), [-32003, "max fee per gas less than block base fee"]);
  for (const raw of ["0x1234", "0xc0"]) {
    assert.deepEqual(await failure(node, "eth_sendRawTransaction", raw), [-32602, "Failed to decode transaction"], raw);
  }
  assert.deepEqual(await send({ from: POOR }), [-32602, "No Signer available"]);
  await node.rpc.eth_sendTransaction({ from: from!, to: TO });
  assert.deepEqual(await send({ nonce: "0x0" }), [-32003, "nonce too low"]);
  await node.setCode(POOR, "0x634e487b7160e01b5f52600160045260245ffd");
  assert.deepEqual(await call({ to: POOR }), [3, "execution reverted: panic: assertion failed (0x01)"]);
  await node.setCode(POOR, "0xfe");
  assert.deepEqual(await call({ to: POOR }), [-32603, "EVM error InvalidFEOpcode"]);
  assert.deepEqual(await failure(node, "anvil_setMinGasPrice", "0x1"), [
    -32602,
    "anvil_setMinGasPrice is not supported when EIP-1559 is active",
  ]);
});

test("a block beyond the head is anvil's error in its dialect, in each way to name it", async () => {
  await using node = await start({ dialect: "anvil" });
  const beyond = [-32602, "BlockOutOfRangeError: block height is 0 but requested was 2457"];
  for (const block of ["0x999", { blockNumber: "0x999" }]) {
    for (const method of ["eth_getBalance", "eth_getCode", "eth_getTransactionCount"]) {
      assert.deepEqual(await failure(node, method, TO, block), beyond, method);
    }
    assert.deepEqual(await failure(node, "eth_getStorageAt", TO, "0x0", block), beyond);
    assert.deepEqual(await failure(node, "eth_call", { to: TO }, block), beyond);
    assert.deepEqual(await failure(node, "eth_estimateGas", { to: TO }, block), beyond);
  }
  const unknown = { blockHash: `0x${"11".repeat(32)}` };
  assert.deepEqual(await failure(node, "eth_getBalance", TO, unknown), [-32602, "header for hash not found"]);
  await using other = await start();
  assert.deepEqual(await failure(other, "eth_getBalance", TO, "0x999"), [-32000, "header not found"]);
});

test("anvil_metadata has every member that alloy reads, with the snapshots", async () => {
  await using node = await start();
  await node.snapshot();
  await node.mine();
  const id = await node.snapshot();
  const { number, hash } = (await node.rpc.eth_getBlockByNumber("latest", false))!;
  const metadata = await ask<Record<string, unknown>>(node, "anvil_metadata");
  assert.deepEqual(Object.keys(metadata).sort(), [
    ...["chainId", "clientCommitSha", "clientSemver", "clientVersion", "forkedNetwork", "instanceId"],
    ...["latestBlockHash", "latestBlockNumber", "snapshots"],
  ]);
  assert.equal(metadata["forkedNetwork"], null);
  const snapshots = metadata["snapshots"] as Record<string, unknown>;
  assert.deepEqual([Object.keys(snapshots).length, snapshots[id]], [2, [Number(number), hash]]);
  assert.ok(!("snapshots" in (await ask<object>(node, "hardhat_metadata"))));
});

test("what callers of anvil leave out, name and pass besides is taken", async () => {
  await using node = await start({
    dialect: "anvil",
    "json-rpc.address": "127.0.0.1:0",
    "json-rpc.cors-origins": "*",
  });
  const [alice] = await node.rpc.eth_accounts();
  const hash = await node.rpc.eth_sendTransaction({ to: TO, value: "0x1" });
  assert.equal((await node.rpc.eth_getTransactionByHash(hash))!.from, alice);
  const receipt = await ask<{ from: string; status: string }>(node, "eth_sendTransactionSync", {
    to: TO,
    value: "0x1",
  });
  assert.deepEqual([receipt.from, receipt.status], [alice, "0x1"]);
  await node.impersonateAccount(POOR);
  assert.equal((await node.rpc.eth_accounts()).at(-1), POOR);
  await node.setCoinbase(TO);
  assert.equal(await node.rpc.eth_coinbase(), TO);
  assert.equal(await ask(node, "anvil_setTime", "0x0"), 0);
  assert.match(await ask<string>(node, "anvil_dumpState", true), /^0x1f8b/);
  const url = node.urls.find((each) => each.startsWith("http"))!;
  const body = { jsonrpc: "2.0", id: 1, method: "anvil_reorg", params: { depth: 1, tx_block_pairs: [] } };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  assert.deepEqual([answer.status, await answer.json()], [200, { jsonrpc: "2.0", id: 1, result: null }]);
});

test("a body without JSON's content type is rejected where not every page may call, in anvil's dialect, too", async () => {
  for (const settings of [{}, { dialect: "anvil" }]) {
    await using node = await start({ "json-rpc.address": "127.0.0.1:0", ...settings });
    const url = node.urls.find((each) => each.startsWith("http"))!;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
    assert.equal((await fetch(url, { method: "POST", headers: { "content-type": "text/plain" }, body })).status, 415);
  }
});

test("a number below 0 is rejected by its value, with no words of another language", async () => {
  await using node = await start();
  const [code, message] = await failure(node, "evm_increaseTime", -10);
  assert.equal(code, -32602);
  assert.equal(message, "invalid argument 0: expected a non-negative integer, got -10");
});

test("anvil_mine of many empty blocks makes those that as many calls for one make, and each can be read with its state", async () => {
  const now = 2_000_000_000_000;
  const startAt = () =>
    startTestNode({
      dev: true,
      settings: { ...ONE_PROCESS, "json-rpc.api": "all", timestamp: "1999999000" },
      hooks: { wallClock: () => now, monotonicClock: () => 0 },
    });
  const [together, alone] = [await startAt(), await startAt()];
  try {
    const blocks = 60;
    const call = async ({ url }: TestNode, method: string, ...params: readonly unknown[]) => {
      const { result, error } = await overHttp(url, method, params);
      assert.equal(error, undefined);
      return result;
    };
    await call(together, "anvil_mine", blocks);
    for (let i = 0; i < blocks; i++) await call(alone, "anvil_mine");
    const block = (node: TestNode, number: number) => call(node, "eth_getBlockByNumber", toQuantity(number), true);
    for (let number = 0; number <= blocks; number++) {
      assert.deepEqual(await block(together, number), await block(alone, number));
    }
    const history = "0x0000f90827f1c53a10cb7a02335b175320002935";
    for (let number = 1; number <= blocks; number++) {
      const [slot, at] = [`0x${(number - 1).toString(16).padStart(64, "0")}`, toQuantity(number)];
      const parent = (await block(alone, number)) as { readonly parentHash: string };
      const proof = await call(together, "eth_getProof", history, [slot], at);
      assert.deepEqual(proof, await call(alone, "eth_getProof", history, [slot], at));
      assert.equal(await call(together, "eth_getStorageAt", history, slot, at), parent.parentHash);
    }
  } finally {
    await together.stop();
    await alone.stop();
  }
});
