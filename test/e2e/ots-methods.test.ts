import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { assemble, deploymentOf } from "../support/assembler.ts";
import { contract } from "../support/contracts.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const token = contract("Token");
const [owner, other, third] = DEV_ADDRESSES.map((address) => address.toLowerCase()) as [Hex, Hex, Hex];
const FOURTH = `0x${"dd".repeat(20)}` as Hex;
const UNKNOWN = `0x${"77".repeat(32)}`;
const INVALID_PARAMS = -32602;
const REJECTED = -32000;

type Receipt = {
  readonly transactionHash: Hex;
  readonly contractAddress: Hex;
  readonly to: Hex;
  readonly status: Hex;
  readonly blockNumber: Hex;
  readonly transactionIndex: Hex;
  readonly gasUsed: Hex;
  readonly effectiveGasPrice: Hex;
};

/** Sends its value on to `third` in a message call. */
const FORWARDS = `PUSH1 00 PUSH1 00 PUSH1 00 PUSH1 00 CALLVALUE PUSH20 ${third} GAS CALL STOP`;
/** Creates a contract whose code is one byte of zero. */
const CREATES = "PUSH5 60016000f3 PUSH1 00 MSTORE PUSH1 05 PUSH1 1b PUSH1 00 CREATE STOP";

describe("ots_* and erigon_*", () => {
  let node: TestNode;
  /** Receipts by position: a token, a forwarder, a factory, and what was sent to them. */
  const receipts: Receipt[] = [];

  const ask = (method: string, ...params: readonly unknown[]) => callHttp(node.url, method, params);
  async function resultOf(method: string, ...params: readonly unknown[]) {
    const { result, error } = await ask(method, ...params);
    assert.equal(error, undefined, `${method}: ${error?.message}`);
    return result;
  }
  async function assertRejected(code: number, method: string, ...params: readonly unknown[]) {
    assert.equal((await ask(method, ...params)).error?.code, code, method);
  }

  async function send(nonce: number, fields: { to?: Hex; data?: Hex; value?: bigint }, key = 0) {
    const raw = await privateKeyToAccount(DEV_KEYS[key]!).signTransaction({
      chainId: 31337,
      nonce,
      gas: 1_000_000n,
      type: "eip1559",
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      ...fields,
    });
    return resultOf("eth_sendRawTransaction", raw);
  }
  const receiptOf = (hash: Hex) => resultOf("eth_getTransactionReceipt", hash);
  const transfer = (value: bigint) =>
    encodeFunctionData({ abi: token.abi, functionName: "transfer", args: [other, value] });

  before(async () => {
    node = await startTestNode({ dev: true, settings: { "consensus.block-time": "manual" } });
    const mine = async (...hashes: Hex[]) => {
      node.produceBlock();
      for (const hash of hashes) receipts.push(await receiptOf(hash));
    };
    await mine(await send(0, { data: encodeDeployData({ ...token, args: [1000n] }) }));
    await mine(await send(1, { data: deploymentOf(assemble(FORWARDS)) }));
    await mine(await send(2, { data: deploymentOf(assemble(CREATES)) }));
    const [tokenAt, forwarder, factory] = receipts.map(({ contractAddress }) => contractAddress) as [Hex, Hex, Hex];
    // Block 4 has several transactions, so that only its execution shows which one reached `third`.
    await mine(
      await send(3, { to: tokenAt, data: transfer(1n) }),
      await send(4, { to: forwarder, value: 7n }),
      await send(5, { to: factory }),
      await send(0, { to: FOURTH, value: 1n }, 1),
    );
    await mine(await send(6, { to: tokenAt, data: transfer(5000n) }));
  });
  after(() => node.stop());

  test("ots_getApiLevel is 8", async () => {
    assert.equal(await resultOf("ots_getApiLevel"), 8);
  });

  test("ots_hasCode", async () => {
    const tokenAt = receipts[0]!.contractAddress;
    assert.equal(await resultOf("ots_hasCode", tokenAt, "latest"), true);
    assert.equal(await resultOf("ots_hasCode", tokenAt, "0x0"), false);
    assert.equal(await resultOf("ots_hasCode", owner), false);
    await assertRejected(REJECTED, "ots_hasCode", owner, "0xffff");
    await assertRejected(INVALID_PARAMS, "ots_hasCode", "0x1");
  });

  test("ots_getBlockDetails sums fees and leaves transactions out, by number and by hash", async () => {
    const details = await resultOf("ots_getBlockDetails", 4);
    const block = await resultOf("eth_getBlockByNumber", "0x4", false);
    const { transactions, logsBloom: _, ...rest } = block;
    assert.deepEqual(details.block, {
      ...rest,
      logsBloom: null,
      transactionCount: transactions.length,
    });
    assert.deepEqual(details.issuance, { blockReward: "0x0", uncleReward: "0x0", issuance: "0x0" });
    const fees = receipts
      .slice(3, 7)
      .reduce((sum, { gasUsed, effectiveGasPrice }) => sum + BigInt(gasUsed) * BigInt(effectiveGasPrice), 0n);
    assert.equal(BigInt(details.totalFees), fees);
    assert.deepEqual(await resultOf("ots_getBlockDetailsByHash", block.hash), details);
    assert.equal(await resultOf("ots_getBlockDetails", 99), null);
    assert.equal(await resultOf("ots_getBlockDetailsByHash", UNKNOWN), null);
    await assertRejected(INVALID_PARAMS, "ots_getBlockDetails", -1);
    await assertRejected(INVALID_PARAMS, "ots_getBlockDetailsByHash", "0x1");
  });

  test("ots_getBlockTransactions pages from the end of a block", async () => {
    const first = await resultOf("ots_getBlockTransactions", 4, 0, 3);
    const second = await resultOf("ots_getBlockTransactions", "0x4", 1, 3);
    assert.equal(first.fullblock.transactionCount, 4);
    const hashesOf = (page: typeof first) => page.fullblock.transactions.map(({ hash }: { hash: Hex }) => hash);
    const { transactions } = await resultOf("eth_getBlockByNumber", "0x4", false);
    assert.deepEqual([...hashesOf(second), ...hashesOf(first)], transactions);
    assert.ok(first.fullblock.transactions.every(({ input }: { input: Hex }) => input.length <= 10));
    assert.deepEqual(
      first.receipts.map(({ logs }: { logs: null }) => logs),
      [null, null, null],
    );
    assert.deepEqual((await resultOf("ots_getBlockTransactions", 4, 9, 3)).receipts, []);
    assert.equal(await resultOf("ots_getBlockTransactions", 99, 0, 3), null);
    await assertRejected(INVALID_PARAMS, "ots_getBlockTransactions", 4, 0, 26);
    await assertRejected(INVALID_PARAMS, "ots_getBlockTransactions", 4, 0, 0);
  });

  test("ots_getInternalOperations and ots_traceTransaction show what happened inside", async () => {
    const [forwarded, created] = [receipts[4]!, receipts[5]!];
    assert.deepEqual(await resultOf("ots_getInternalOperations", forwarded.transactionHash), [
      { type: 0, from: forwarded.to, to: third, value: "0x7" },
    ]);
    const [{ type, from, to }] = await resultOf("ots_getInternalOperations", created.transactionHash);
    assert.deepEqual({ type, from }, { type: 2, from: created.to });
    assert.equal(await resultOf("ots_hasCode", to), true);
    const frames = await resultOf("ots_traceTransaction", forwarded.transactionHash);
    assert.deepEqual(frames, [
      {
        type: "CALL",
        depth: 0,
        from: owner,
        to: forwarded.to,
        value: "0x7",
        input: "0x",
        output: "0x",
      },
      {
        type: "CALL",
        depth: 1,
        from: forwarded.to,
        to: third,
        value: "0x7",
        input: "0x",
        output: "0x",
      },
    ]);
    assert.deepEqual(await resultOf("ots_getContractCreator", to), {
      hash: created.transactionHash,
      creator: created.to,
    });
    for (const method of ["ots_getInternalOperations", "ots_traceTransaction"]) {
      assert.equal(await resultOf(method, UNKNOWN), null);
      await assertRejected(INVALID_PARAMS, method, "0x1");
    }
  });

  test("ots_getTransactionError is what a transaction reverted with", async () => {
    const failed = receipts[7]!;
    assert.equal(failed.status, "0x0");
    const error = await resultOf("ots_getTransactionError", failed.transactionHash);
    assert.ok(error.startsWith("0xdb42144d"), "selector of InsufficientBalance");
    assert.equal(await resultOf("ots_getTransactionError", receipts[0]!.transactionHash), "0x");
    assert.equal(await resultOf("ots_getTransactionError", UNKNOWN), null);
    await assertRejected(INVALID_PARAMS, "ots_getTransactionError", "0x1");
  });

  test("ots_getContractCreator and ots_getTransactionBySenderAndNonce", async () => {
    const { contractAddress, transactionHash } = receipts[0]!;
    assert.deepEqual(await resultOf("ots_getContractCreator", contractAddress), {
      hash: transactionHash,
      creator: owner,
    });
    assert.equal(await resultOf("ots_getContractCreator", owner), null);
    await assertRejected(INVALID_PARAMS, "ots_getContractCreator", "0x1");
    assert.equal(await resultOf("ots_getTransactionBySenderAndNonce", owner, 0), transactionHash);
    assert.equal(await resultOf("ots_getTransactionBySenderAndNonce", owner, "0x63"), null);
    await assertRejected(INVALID_PARAMS, "ots_getTransactionBySenderAndNonce", owner, "x");
  });

  test("searches find senders, recipients, creations, emitters and those only reached inside", async () => {
    const found = async (address: Hex, before = 0, size = 25) => {
      const { txs, receipts: list } = await resultOf("ots_searchTransactionsBefore", address, before, size);
      assert.equal(txs.length, list.length);
      return txs.map(({ hash }: { hash: Hex }) => hash);
    };
    const at = (i: number) => receipts[i]!.transactionHash;
    const hashes = receipts.map(({ transactionHash }) => transactionHash);
    const order = (wanted: readonly Hex[]) =>
      receipts
        .filter(({ transactionHash }) => wanted.includes(transactionHash))
        .sort(
          (a, b) =>
            Number(b.blockNumber) - Number(a.blockNumber) || Number(b.transactionIndex) - Number(a.transactionIndex),
        )
        .map(({ transactionHash }) => transactionHash);
    assert.deepEqual(await found(third), [hashes[4]], "reached by a message call only");
    assert.deepEqual(await found(receipts[0]!.contractAddress), order([at(0), at(3), at(7)]));
    assert.deepEqual(await found(FOURTH), [hashes[6]]);
    assert.deepEqual(await found(owner), order(hashes.filter((_, i) => i !== 6)));
    assert.deepEqual(await found(`0x${"99".repeat(20)}`), []);
  });

  test("pages never split a block and say whether there are more", async () => {
    const page = async (direction: "Before" | "After", block: number, size: number) => {
      const {
        txs,
        receipts: list,
        firstPage,
        lastPage,
      } = await resultOf(`ots_searchTransactions${direction}`, owner, block, size);
      for (const { timestamp } of list) assert.equal(typeof timestamp, "number");
      return {
        blocks: txs.map(({ blockNumber }: { blockNumber: Hex }) => Number(blockNumber)),
        firstPage,
        lastPage,
      };
    };
    assert.deepEqual(await page("Before", 0, 2), {
      blocks: [5, 4, 4, 4],
      firstPage: true,
      lastPage: false,
    });
    assert.deepEqual(await page("Before", 4, 2), {
      blocks: [3, 2],
      firstPage: false,
      lastPage: false,
    });
    assert.deepEqual(await page("Before", 2, 2), { blocks: [1], firstPage: false, lastPage: true });
    assert.deepEqual(await page("After", 0, 2), {
      blocks: [2, 1],
      firstPage: false,
      lastPage: true,
    });
    assert.deepEqual(await page("After", 2, 2), {
      blocks: [4, 4, 4, 3],
      firstPage: false,
      lastPage: false,
    });
    assert.deepEqual(await page("After", 4, 2), { blocks: [5], firstPage: true, lastPage: false });
    for (const direction of ["Before", "After"]) {
      await assertRejected(INVALID_PARAMS, `ots_searchTransactions${direction}`, owner, 0, 26);
      await assertRejected(INVALID_PARAMS, `ots_searchTransactions${direction}`, "0x1", 0, 25);
    }
  });

  test("erigon_getLatestLogs finds the newest logs first, whatever their order", async () => {
    const all = await resultOf("eth_getLogs", { fromBlock: "0x0", toBlock: "latest" });
    assert.ok(all.length >= 2);
    const latest = (criteria: object, options?: object) =>
      resultOf("erigon_getLatestLogs", criteria, ...(options ? [options] : []));
    assert.deepEqual(await latest({}), [all.at(-1)]);
    assert.deepEqual(await latest({}, { logCount: 100 }), [...all].reverse());
    assert.deepEqual(await latest({}, { blockCount: 1 }), [all.at(-1)]);
    assert.deepEqual(await latest({ toBlock: "0x3" }, { logCount: 100 }), [all[0]]);
    assert.deepEqual(await latest({ fromBlock: "0x5" }, { logCount: 100 }), []);
    assert.deepEqual(await latest({ blockHash: all[0].blockHash }, { logCount: 100 }), [all[0]]);
    // The sender of the transfer, a second topic, is looked for at the first position.
    const [, sender] = all.at(-1).topics;
    const only = { topics: [sender] };
    assert.deepEqual(await latest(only, { logCount: 100 }), []);
    const anywhere = await latest(only, { logCount: 100, ignoreTopicsOrder: true });
    assert.deepEqual(
      anywhere,
      [...all].reverse().filter(({ topics }: { topics: Hex[] }) => topics.includes(sender)),
    );
    await assertRejected(INVALID_PARAMS, "erigon_getLatestLogs", {}, { logCount: 1, blockCount: 1 });
    await assertRejected(INVALID_PARAMS, "erigon_getLatestLogs", {}, { logCount: 10_001 });
    await assertRejected(INVALID_PARAMS, "erigon_getLatestLogs", {
      fromBlock: "0x5",
      toBlock: "0x4",
    });
    await assertRejected(REJECTED, "erigon_getLatestLogs", { blockHash: UNKNOWN });
  });

  test("erigon_getBalanceChangesInBlock shows every balance a block changed, and no other", async () => {
    const changes = await resultOf("erigon_getBalanceChangesInBlock", "0x4");
    for (const account of [owner, other, third, FOURTH, receipts[0]!.contractAddress]) {
      const [before, after] = [
        await resultOf("eth_getBalance", account, "0x3"),
        await resultOf("eth_getBalance", account, "0x4"),
      ];
      assert.equal(changes[account], before === after ? undefined : after, account);
    }
    assert.deepEqual(await resultOf("erigon_getBalanceChangesInBlock", "earliest"), {});
    await assertRejected(REJECTED, "erigon_getBalanceChangesInBlock", "0xffff");
  });

  test("erigon_forks and erigon_cacheCheck", async () => {
    const { hash } = await resultOf("eth_getBlockByNumber", "0x0", false);
    const forks = { genesis: hash, heightForks: [], timeForks: [] };
    assert.deepEqual(await resultOf("erigon_forks"), forks);
    assert.equal((await resultOf("erigon_cacheCheck")).Enabled, false);
  });

  test("erigon_* answer as eth_* does, and find blocks by time and logs by block", async () => {
    const header = await resultOf("eth_getHeaderByNumber", "0x4");
    assert.equal(await resultOf("erigon_blockNumber"), "0x5");
    assert.equal(await resultOf("erigon_blockNumber", "earliest"), "0x0");
    assert.deepEqual(await resultOf("erigon_getHeaderByNumber", "0x4"), header);
    assert.deepEqual(await resultOf("erigon_getHeaderByHash", header.hash), header);
    assert.equal(await resultOf("erigon_getHeaderByNumber", "0xff"), null);
    const logs = await resultOf("erigon_getLogsByHash", header.hash);
    assert.deepEqual(logs.map((list: unknown[]) => list.length).sort(), [0, 0, 0, 1]);
    assert.deepEqual(logs.flat(), await resultOf("erigon_getLogs", { blockHash: header.hash }));
    assert.equal(await resultOf("erigon_getLogsByHash", UNKNOWN), null);
    assert.equal((await resultOf("erigon_getBlockReceiptsByBlockHash", header.hash)).length, 4);
    const byTime = (time: number | string) => resultOf("erigon_getBlockByTimestamp", time, false);
    for (const number of ["0x0", "0x2", "0x5"]) {
      const block = await resultOf("eth_getBlockByNumber", number, false);
      assert.equal((await byTime(Number(block.timestamp))).number, number);
    }
    assert.equal((await byTime(2 ** 40)).number, "0x5");
    assert.equal(await byTime(1), null);
    await assertRejected(INVALID_PARAMS, "erigon_getLogsByHash", "0x1");
    await assertRejected(INVALID_PARAMS, "erigon_getBlockByTimestamp", -1, false);
  });
});

test("searches of a node without the index say how to switch it on", async () => {
  const node = await startTestNode({ dev: true, settings: { "index.addresses": "false" } });
  try {
    const { error } = await callHttp(node.url, "ots_searchTransactionsBefore", [owner, 0, 25]);
    assert.equal(error?.code, REJECTED);
    assert.match(error?.message ?? "", /index\.addresses/);
  } finally {
    await node.stop();
  }
});

test("trace, ots and erigon are closed unless they are named", async () => {
  const node = await startTestNode({ dev: true, settings: { "json-rpc.api": "eth,net,web3" } });
  try {
    for (const method of ["trace_block", "ots_getApiLevel", "erigon_blockNumber"]) {
      const { error } = await callHttp(node.url, method, method === "trace_block" ? ["latest"] : []);
      assert.equal(error?.code, -32601, method);
    }
  } finally {
    await node.stop();
  }
});
