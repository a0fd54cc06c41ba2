import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { assemble } from "../support/assembler.ts";
import { contract } from "../support/contracts.ts";
import { callHttp } from "../support/rpc/rpc-client.ts";
import { NEEDS_SOLO } from "../support/test-engine.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

const token = contract("Token");
const [owner, other] = DEV_ADDRESSES.map((address) => address.toLowerCase()) as [Hex, Hex];
const signer = privateKeyToAccount(DEV_KEYS[0]);
const UNKNOWN = `0x${"77".repeat(32)}`;
const INVALID_PARAMS = -32602;
const BUSY = -32005;
const REJECTED = -32000;

describe("trace_*", () => {
  let node: TestNode;
  /** A deployment, a token transfer and one that reverts: blocks 1 to 3. */
  const hashes: Hex[] = [];
  let tokenAddress: Hex;

  const ask = (method: string, ...params: readonly unknown[]) => callHttp(node.url, method, params);
  async function resultOf(method: string, ...params: readonly unknown[]) {
    const { result, error } = await ask(method, ...params);
    assert.equal(error, undefined, `${method}: ${error?.message}`);
    return result;
  }
  async function assertRejected(code: number, method: string, ...params: readonly unknown[]) {
    assert.equal((await ask(method, ...params)).error?.code, code, method);
  }
  const transfer = (value: bigint) =>
    encodeFunctionData({ abi: token.abi, functionName: "transfer", args: [other, value] });

  async function signed(nonce: number, to: Hex | undefined, data: Hex) {
    return signer.signTransaction({
      chainId: 31337,
      nonce,
      gas: 1_000_000n,
      type: "eip1559",
      data,
      maxFeePerGas: 10n ** 10n,
      maxPriorityFeePerGas: 10n ** 9n,
      ...(to && { to }),
    });
  }

  before(async () => {
    node = await startTestNode({ dev: true, limits: { calls: { traceFilterBlocksMax: 4 } } });
    const deployment = await signed(0, undefined, encodeDeployData({ ...token, args: [1000n] }));
    const { contractAddress, transactionHash } = await resultOf("eth_sendRawTransactionSync", deployment);
    tokenAddress = contractAddress;
    hashes.push(transactionHash);
    for (const [i, value] of [5n, 5000n].entries()) {
      const raw = await signed(i + 1, tokenAddress, transfer(value));
      hashes.push((await resultOf("eth_sendRawTransactionSync", raw)).transactionHash);
    }
  });
  after(() => node.stop());

  test("trace_transaction shows the frames of a transaction, null for an unknown one", async () => {
    const [frame, ...rest] = await resultOf("trace_transaction", hashes[1]);
    assert.deepEqual(rest, []);
    assert.equal(frame.type, "call");
    assert.equal(frame.action.to, tokenAddress);
    assert.equal(frame.transactionHash, hashes[1]);
    assert.equal(frame.blockNumber, 2);
    assert.equal(BigInt(frame.result.output), 1n);
    assert.equal(await resultOf("trace_transaction", UNKNOWN), null);
    await assertRejected(INVALID_PARAMS, "trace_transaction", "0x12");
  });

  test("trace_block shows all frames of a block; none of genesis, null for an unknown block", async () => {
    const [frame] = await resultOf("trace_block", "0x3");
    assert.equal(frame.error, "Reverted");
    assert.equal(frame.transactionHash, hashes[2]);
    assert.deepEqual(await resultOf("trace_block", "earliest"), []);
    assert.equal(await resultOf("trace_block", "0xffff"), null);
    await assertRejected(INVALID_PARAMS, "trace_block", 1);
  });

  test("trace_get finds a frame by its address", async () => {
    const [frame] = await resultOf("trace_transaction", hashes[1]);
    assert.deepEqual(await resultOf("trace_get", hashes[1], []), frame);
    assert.equal(await resultOf("trace_get", hashes[1], ["0x0"]), null);
    assert.equal(await resultOf("trace_get", UNKNOWN, []), null);
    await assertRejected(INVALID_PARAMS, "trace_get", hashes[1], "0x0");
  });

  const range = { fromBlock: "0x0", toBlock: "0x3" };
  const count = async (filter: object) => (await resultOf("trace_filter", { ...range, ...filter })).length;

  test("trace_filter selects by sender and recipient, and pages", async () => {
    assert.equal(await count({}), 3);
    assert.equal(await count({ fromAddress: [owner] }), 3);
    assert.equal(await count({ fromAddress: [other] }), 0);
    assert.equal(await count({ toAddress: [tokenAddress] }), 3);
    assert.equal(await count({ fromAddress: [other], toAddress: [tokenAddress] }), 3);
    const both = { fromAddress: [other], toAddress: [tokenAddress], mode: "intersection" };
    assert.equal(await count(both), 0);
    assert.equal(await count({ after: 1, count: "0x1" }), 1);
    await assertRejected(INVALID_PARAMS, "trace_filter", { ...range, mode: "either" });
    await assertRejected(INVALID_PARAMS, "trace_filter", { fromBlock: "0x3", toBlock: "0x1" });
  });

  test("trace_filter ends at the newest block, and bounds the blocks of a call", {
    skip: NEEDS_SOLO,
  }, async () => {
    assert.equal(await count({ toBlock: "0xffffff" }), 3);
    node.produceBlock();
    await assertRejected(BUSY, "trace_filter", {});
  });

  test("trace_call and trace_callMany run calls, each after those before it", async () => {
    const call = { from: owner, to: tokenAddress, data: transfer(1000n) };
    const all = await resultOf("trace_call", { ...call, data: transfer(1n) }, ["trace", "stateDiff", "vmTrace"]);
    assert.equal(BigInt(all.output), 1n);
    assert.equal(all.trace.length, 1);
    assert.equal(Object.keys(all.stateDiff[tokenAddress].storage).length, 2);
    assert.ok(all.vmTrace.ops.length > 10);
    // The owner has 995: the first call succeeds only once.
    const spend = { ...call, data: transfer(995n) };
    const many = await resultOf("trace_callMany", [
      [spend, ["trace"]],
      [spend, ["trace", "stateDiff"]],
    ]);
    assert.equal(many[0].trace[0].error, undefined);
    assert.equal(many[0].stateDiff, null);
    assert.equal(many[1].trace[0].error, "Reverted");
    await assertRejected(INVALID_PARAMS, "trace_call", call, ["everything"]);
    await assertRejected(INVALID_PARAMS, "trace_callMany", [[call]]);
    await assertRejected(REJECTED, "trace_call", call, ["trace"], "0xffff");
  });

  test("trace_rawTransaction runs a signed transaction under the rules of one", async () => {
    const raw = await signed(3, tokenAddress, transfer(7n));
    const { trace, output } = await resultOf("trace_rawTransaction", raw, ["trace"]);
    assert.equal(trace[0].action.from, owner);
    assert.equal(BigInt(output), 1n);
    const used = await signed(0, tokenAddress, transfer(7n));
    await assertRejected(REJECTED, "trace_rawTransaction", used, ["trace"]);
    await assertRejected(INVALID_PARAMS, "trace_rawTransaction", "0xzz", ["trace"]);
  });

  test("trace_replayTransaction and trace_replayBlockTransactions agree", async () => {
    const types = ["trace", "vmTrace", "stateDiff"];
    const one = await resultOf("trace_replayTransaction", hashes[1], types);
    const block = await resultOf("trace_replayBlockTransactions", "0x2", types);
    assert.deepEqual(block, [{ ...one, transactionHash: hashes[1] }]);
    assert.deepEqual(await resultOf("trace_replayBlockTransactions", "0x0", types), []);
    assert.equal(await resultOf("trace_replayBlockTransactions", "0xffff", types), null);
    await assertRejected(REJECTED, "trace_replayTransaction", UNKNOWN, types);
    await assertRejected(INVALID_PARAMS, "trace_replayTransaction", hashes[1], "trace");
  });

  test("vmTrace shows what each opcode left: gas, stack, memory, storage", async () => {
    const code = assemble("PUSH1 2a PUSH1 01 SSTORE PUSH1 07 PUSH1 05 MSTORE8 PUSH1 01 DUP1 STOP");
    const to = "0x00000000000000000000000000000000000000cc";
    const { vmTrace } = await resultOf("trace_call", { from: owner, to, gas: "0x186a0" }, ["vmTrace"], "latest", {
      [to]: { code },
    });
    assert.equal(vmTrace.code, code);
    const ops = new Map(vmTrace.ops.map((op: { pc: number }) => [op.pc, op]));
    const left = 100_000 - 21_000;
    assert.deepEqual(ops.get(0), {
      pc: 0,
      op: "PUSH1",
      cost: 3,
      sub: null,
      ex: { used: left - 3, push: ["0x2a"], mem: null, store: null },
    });
    assert.deepEqual(ops.get(4), {
      pc: 4,
      op: "SSTORE",
      cost: 22_100,
      sub: null,
      ex: { used: left - 6 - 22_100, push: [], mem: null, store: { key: "0x1", val: "0x2a" } },
    });
    assert.deepEqual(ops.get(9), {
      pc: 9,
      op: "MSTORE8",
      cost: 6,
      sub: null,
      ex: { used: left - 22_118, push: [], mem: { off: 5, data: "0x07" }, store: null },
    });
    assert.deepEqual((ops.get(12) as { ex: unknown }).ex, {
      used: left - 22_124,
      push: ["0x1", "0x1"],
      mem: null,
      store: null,
    });
  });

  test("a precompile that is called without ether is no frame", async () => {
    const code = assemble("PUSH1 00 PUSH1 00 PUSH1 00 PUSH1 00 PUSH1 04 PUSH2 ffff STATICCALL STOP");
    const to = "0x00000000000000000000000000000000000000cc";
    const overrides = { [to]: { code } };
    const { trace } = await resultOf("trace_call", { from: owner, to }, ["trace"], "latest", overrides);
    assert.deepEqual(
      trace.map((frame: { subtraces: number }) => frame.subtraces),
      [0],
    );
  });

  test("a contract that is destroyed in its own transaction leaves no difference but the ether", async () => {
    const init = assemble(`PUSH20 ${other} SELFDESTRUCT`);
    const { stateDiff, trace } = await resultOf("trace_call", { from: owner, data: init, value: "0x5" }, [
      "trace",
      "stateDiff",
    ]);
    assert.deepEqual(
      trace.map((frame: { type: string }) => frame.type),
      ["create", "suicide"],
    );
    assert.deepEqual(Object.keys(stateDiff).sort(), [owner, other].sort());
  });
});
