/**
 * What users of chains of this kind have suffered from most in blocks, receipts, traces, proofs and the pool, one test each, on one
 * chain: its block 2 holds a transaction of every sort that went wrong elsewhere. `docs/acceptance.md` says where each complaint
 * is from; those about events are in `events-acceptance.test.ts`.
 */
import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { verifyMerkleProof } from "@ethereumjs/mpt";
import { encodeDeployData, encodeFunctionData, fromRlp, type Hex, hexToBytes, keccak256, numberToHex, pad } from "viem";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { openWs } from "../support/clients.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { WsClient } from "../support/ws-client.ts";

const token = contract("Token");
const [owner, other, third] = DEV_ADDRESSES;
const SUPPLY = 1000n;
/** Slot 1 is `balanceOf`. */
const balanceSlot = (account: Hex): Hex => keccak256(`${pad(account)}${pad("0x1").slice(2)}` as Hex);

let node: TestNode;
let client: WsClient;
let tokenAddress: Hex;
/** Of block 2, in the order they were sent. */
let sent: Hex[];

const transfer = (to: Hex, value: bigint) =>
  encodeFunctionData({ abi: token.abi, functionName: "transfer", args: [to, value] });
const send = (fields: object): Promise<Hex> => client.call("eth_sendTransaction", { gas: "0x30000", ...fields });

before(async () => {
  node = await startTestNode({ dev: true, settings: { "consensus.block-time": "manual" } });
  client = await WsClient.open(node.wsUrl);
  const data = encodeDeployData({ ...token, args: [SUPPLY] });
  const deployed = await send({ from: owner, data, gas: "0x200000" });
  node.produceBlock();
  tokenAddress = (await client.call("eth_getTransactionReceipt", deployed)).contractAddress;
  const price = { gasPrice: "0x77359400" };
  sent = [
    await send({ from: owner, to: tokenAddress, data: transfer(other, 5n), ...price }),
    await send({ from: owner, to: other, value: "0x1", gas: "0x5208", ...price }),
    // Nothing to transfer: it reverts, and is mined all the same.
    await send({ from: other, to: tokenAddress, data: transfer(third, 6n), ...price }),
    await send({ from: third, to: owner, value: "0x1", gas: "0x200000", ...price }),
    await send({ from: owner, to: tokenAddress, data: transfer(third, 7n), ...price }),
  ];
  node.produceBlock();
});
after(async () => {
  client.close();
  await node.stop();
});

test("a block holds what was sent, the reverted too; gas used adds up in every place it is told", async () => {
  const block = await client.call("eth_getBlockByNumber", "0x2", true);
  const receipts = await client.call("eth_getBlockReceipts", "0x2");
  const hashes = block.transactions.map(({ hash }: { hash: Hex }) => hash);
  assert.deepEqual([...hashes].sort(), [...sent].sort());
  let total = 0n;
  for (const [index, receipt] of receipts.entries()) {
    total += BigInt(receipt.gasUsed);
    assert.equal(BigInt(receipt.cumulativeGasUsed), total);
    assert.deepEqual(await client.call("eth_getTransactionReceipt", hashes[index]), receipt);
  }
  assert.equal(BigInt(block.gasUsed), total);
  const statuses = await Promise.all(
    sent.map(async (hash) => (await client.call("eth_getTransactionReceipt", hash)).status),
  );
  assert.deepEqual(statuses, ["0x1", "0x1", "0x0", "0x1", "0x1"]);
});

test("gas used is what was used, whatever the limit was", async () => {
  const receipt = await client.call("eth_getTransactionReceipt", sent[3]);
  assert.equal(receipt.gasUsed, "0x5208");
  const fields = { from: owner, to: tokenAddress, data: transfer(other, 1n) };
  const estimate = Number(await client.call("eth_estimateGas", fields));
  const tight = await send({ ...fields, gas: numberToHex(estimate) });
  node.produceBlock();
  const generous = await send({ ...fields, gas: numberToHex(20 * estimate) });
  node.produceBlock();
  const used = [];
  for (const hash of [tight, generous]) {
    const { status, gasUsed } = await client.call("eth_getTransactionReceipt", hash);
    assert.equal(status, "0x1");
    used.push(gasUsed);
  }
  assert.equal(used[0], used[1]);
});

test("indexes of transactions and logs count through the block, the same in every answer", async () => {
  const block = await client.call("eth_getBlockByNumber", "0x2", true);
  const receipts = await client.call("eth_getBlockReceipts", "0x2");
  const logs = await client.call("eth_getLogs", { fromBlock: "0x2", toBlock: "0x2" });
  for (const [index, transaction] of block.transactions.entries()) {
    const quantity = numberToHex(index);
    assert.equal(transaction.transactionIndex, quantity);
    assert.equal(receipts[index].transactionIndex, quantity);
    const byPlace = "eth_getTransactionByBlockNumberAndIndex";
    assert.deepEqual(await client.call(byPlace, "0x2", quantity), transaction);
    assert.deepEqual(await client.call("eth_getTransactionByHash", transaction.hash), transaction);
  }
  assert.deepEqual(
    logs.map(({ logIndex }: { logIndex: Hex }) => logIndex),
    ["0x0", "0x1"],
  );
  assert.deepEqual(
    receipts.flatMap((receipt: { logs: object[] }) => receipt.logs),
    logs,
  );
});

test("a receipt that is not there is null at once: of a pending transaction, and of one nobody knows", async () => {
  const pending = await send({ from: owner, to: other });
  for (const hash of [pending, `0x${"77".repeat(32)}`]) {
    // No block is made meanwhile, for which an answer could wait.
    assert.equal(await client.call("eth_getTransactionReceipt", hash), null);
  }
  assert.equal((await client.call("eth_getTransactionByHash", pending)).blockHash, null);
  node.produceBlock();
  assert.notEqual(await client.call("eth_getTransactionReceipt", pending), null);
});

test("a trace agrees with the receipt, and a block's traces are those of its transactions", async () => {
  const tracer = { tracer: "callTracer" };
  const receipts = await client.call("eth_getBlockReceipts", "0x2");
  const block = await client.call("debug_traceBlockByNumber", "0x2", tracer);
  const steps = await client.call("debug_traceBlockByNumber", "0x2", {});
  assert.deepEqual([block.length, steps.length], [receipts.length, receipts.length]);
  for (const [index, { transactionHash, gasUsed, status }] of receipts.entries()) {
    const { result, txHash } = block[index];
    assert.equal(txHash, transactionHash);
    assert.equal(result.gasUsed, gasUsed);
    assert.equal("error" in result, status === "0x0");
    assert.deepEqual(await client.call("debug_traceTransaction", transactionHash, tracer), result);
    assert.equal(steps[index].result.gas, Number(gasUsed));
    assert.equal(steps[index].result.failed, status === "0x0");
  }
});

test("a proof verifies against the state root of its block, of what is there and of what is not", async () => {
  const slots: Hex[] = [balanceSlot(other), balanceSlot(third), `0x${"ee".repeat(32)}`];
  for (const number of ["0x1", "0x2", await client.call("eth_blockNumber")]) {
    const { stateRoot } = await client.call("eth_getBlockByNumber", number, false);
    const proof = await client.call("eth_getProof", tokenAddress, slots, number);
    const account = await prove(stateRoot, tokenAddress, proof.accountProof);
    assert.deepEqual(account, [
      // A contract begins with nonce 1; this one was given no ether.
      "0x01",
      "0x",
      proof.storageHash,
      proof.codeHash,
    ]);
    for (const [index, key] of slots.entries()) {
      const { value, proof: nodes } = proof.storageProof[index];
      assert.equal(proof.storageProof[index].key, key);
      assert.equal(BigInt(await client.call("eth_getStorageAt", tokenAddress, key, number)), BigInt(value));
      const proven = await prove(proof.storageHash, key, nodes);
      assert.equal(proven === null ? 0n : BigInt(proven as Hex), BigInt(value));
    }
  }
  const { stateRoot } = await client.call("eth_getBlockByNumber", "0x2", false);
  const stranger = `0x${"99".repeat(20)}` as Hex;
  const { accountProof } = await client.call("eth_getProof", stranger, [], "0x2");
  assert.equal(await prove(stateRoot, stranger, accountProof), null);
});

/** What another implementation finds the proof to show. */
async function prove(root: Hex, key: Hex, nodes: readonly Hex[]): Promise<unknown> {
  const value = await verifyMerkleProof(
    hexToBytes(key),
    nodes.map((each) => hexToBytes(each)),
    { root: hexToBytes(root), useKeyHashing: true },
  );
  return value && fromRlp(value, "hex");
}

test("whatever got a hash is in the pool until it is in a block, in whatever order it came", async () => {
  const next = Number(await client.call("eth_getTransactionCount", third, "latest"));
  const hashes = new Map<number, Hex>();
  const sendNumber = async (i: number) => {
    hashes.set(i, await send({ from: third, to: other, nonce: numberToHex(next + i) }));
  };
  for (const i of [3, 1, 4, 0, 2, 6]) await sendNumber(i);
  for (const hash of hashes.values()) {
    assert.equal((await client.call("eth_getTransactionByHash", hash)).hash, hash);
  }
  assert.deepEqual(await client.call("txpool_status"), { pending: "0x5", queued: "0x1" });
  const { pending, queued } = await client.call("txpool_contentFrom", third);
  assert.deepEqual(
    [pending, queued].flatMap((part) => Object.values<{ hash: Hex }>(part).map(({ hash }) => hash)),
    [0, 1, 2, 3, 4, 6].map((i) => hashes.get(i)),
  );
  const pendingCount = await client.call("eth_getTransactionCount", third, "pending");
  assert.equal(Number(pendingCount), next + 5);
  node.produceBlock();
  assert.deepEqual(await client.call("txpool_status"), { pending: "0x0", queued: "0x1" });
  // What waited behind a gap is mined once the gap is filled.
  await sendNumber(5);
  node.produceBlock();
  assert.deepEqual(await client.call("txpool_status"), { pending: "0x0", queued: "0x0" });
  for (const hash of hashes.values()) {
    assert.equal((await client.call("eth_getTransactionReceipt", hash)).status, "0x1");
  }
});

test("a block can be named as EIP-1898 has it wherever a state is asked for", async () => {
  const { hash } = await client.call("eth_getBlockByNumber", "0x2", false);
  const call = { from: other, to: tokenAddress, data: transfer(owner, 1n) };
  const questions: readonly (readonly [string, ...unknown[]])[] = [
    ["eth_getBalance", owner],
    ["eth_getCode", tokenAddress],
    ["eth_getTransactionCount", owner],
    ["eth_getStorageAt", tokenAddress, balanceSlot(other)],
    ["eth_getProof", tokenAddress, [balanceSlot(other)]],
    ["eth_call", call],
    ["eth_estimateGas", call],
    ["eth_createAccessList", call],
  ];
  const forms = [{ blockNumber: "0x2" }, { blockHash: hash }, { blockHash: hash, requireCanonical: true }];
  for (const [method, ...params] of questions) {
    const expected = await client.call(method, ...params, "0x2");
    for (const form of forms) {
      assert.deepEqual(await client.call(method, ...params, form), expected, method);
    }
    const unknown = { blockHash: `0x${"77".repeat(32)}` };
    await assert.rejects(client.call(method, ...params, unknown), method);
    await assert.rejects(client.call(method, ...params, { ...forms[0], ...forms[1] }), method);
  }
});

test("every state there ever was can be asked for, that of genesis and of each block", async () => {
  const balances = [];
  for (const number of ["earliest", "0x0", "0x1", "0x2"]) {
    balances.push(await client.call("eth_getStorageAt", tokenAddress, balanceSlot(third), number));
  }
  assert.deepEqual(balances.map(Number), [0, 0, 0, 7]);
  assert.equal((await client.call("eth_getBlockByNumber", "earliest", false)).number, "0x0");
  const head = Number(await client.call("eth_blockNumber"));
  await assert.rejects(client.call("eth_getBalance", owner, numberToHex(head + 1)));
  assert.equal(await client.call("eth_getBlockByNumber", numberToHex(head + 1), false), null);
});

test("fee history has what wallets make their suggestion of", async () => {
  const history = await client.call("eth_feeHistory", "0x2", "0x2", [10, 50, 90]);
  const first = await client.call("eth_getBlockByNumber", "0x1", false);
  const second = await client.call("eth_getBlockByNumber", "0x2", false);
  const next = await client.call("eth_getBlockByNumber", "0x3", false);
  assert.equal(history.oldestBlock, "0x1");
  assert.deepEqual(
    history.baseFeePerGas,
    [first, second, next].map(({ baseFeePerGas }) => baseFeePerGas),
  );
  assert.deepEqual(
    history.gasUsedRatio,
    [first, second].map(({ gasUsed, gasLimit }) => Number(gasUsed) / Number(gasLimit)),
  );
  assert.deepEqual(
    history.reward.map((rewards: Hex[]) => rewards.length),
    [3, 3],
  );
  const tip = BigInt(await client.call("eth_maxPriorityFeePerGas"));
  const price = BigInt(await client.call("eth_gasPrice"));
  const latest = await client.call("eth_getBlockByNumber", "latest", false);
  assert.equal(price, tip + BigInt(latest.baseFeePerGas));
});

test("an id comes back as it was written, whatever its type, over HTTP, WebSocket and IPC", async () => {
  const headers = { "content-type": "application/json" };
  const ws = await openWs(node.wsUrl);
  const ipc = connect(node.ipcPath);
  const ask: Record<string, (body: string) => Promise<string>> = {
    http: async (body) => (await fetch(node.url, { method: "POST", headers, body })).text(),
    ws: (body) =>
      new Promise((resolve) => {
        ws.once("message", (data) => resolve(data.toString()));
        ws.send(body);
      }),
    ipc: (body) =>
      new Promise((resolve) => {
        ipc.once("data", (data) => resolve(data.toString()));
        ipc.write(body);
      }),
  };
  const ids = ["7", '"7"', '"a-b"', '""', "0", "-1", "1.5", "9007199254740993", "1e3", "null"];
  for (const [transport, send] of Object.entries(ask)) {
    for (const id of ids) {
      const answer = await send(`{"jsonrpc":"2.0","id":${id},"method":"eth_chainId","params":[]}`);
      assert.equal(answer.trim(), `{"jsonrpc":"2.0","id":${id},"result":"0x7a69"}`, `${transport} ${id}`);
    }
  }
  ws.terminate();
  ipc.destroy();
});
