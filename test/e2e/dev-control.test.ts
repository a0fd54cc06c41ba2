import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { createTestClient, type Hex, numberToHex, parseEther, publicActions, walletActions } from "viem";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { ONE_PROCESS, startTestNode, type TestNode } from "../support/test-node.ts";
import { patientHttp, viemClients } from "../support/viem-clients.ts";

const token = contract("Token");
const [ALICE, BOB] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000beef1";

/** A client with all actions of viem for a test node of that kind. */
function testClient(mode: "anvil" | "hardhat" | "ganache", node: TestNode) {
  const { chain } = viemClients(node, patientHttp(node.url)).reader;
  return createTestClient({ mode, chain: chain!, transport: patientHttp(node.url) })
    .extend(publicActions)
    .extend(walletActions);
}

for (const mode of ["anvil", "hardhat"] as const) {
  describe(`viem's test client in mode ${mode}`, () => {
    let node: TestNode;
    let client: ReturnType<typeof testClient>;
    let start: Hex;
    before(async () => {
      node = await startTestNode({ dev: true, settings: ONE_PROCESS });
      client = testClient(mode, node);
      start = await client.snapshot();
    });
    beforeEach(async () => {
      await client.revert({ id: start });
      start = await client.snapshot();
    });
    after(() => node.stop());

    test("state set by hand is read at once, used by the next block and undone by a revert", async () => {
      const id = await client.snapshot();
      await client.setBalance({ address: STRANGER, value: parseEther("7") });
      await client.setNonce({ address: STRANGER, nonce: 9 });
      await client.setCode({ address: STRANGER, bytecode: token.runtime });
      await client.setStorageAt({
        address: STRANGER,
        index: 5,
        value: numberToHex(77, { size: 32 }),
      });
      const read = async () => [
        await client.getBalance({ address: STRANGER }),
        await client.getTransactionCount({ address: STRANGER }),
        await client.getCode({ address: STRANGER }),
        await client.getStorageAt({ address: STRANGER, slot: "0x5" }),
      ];
      const set = [parseEther("7"), 9, token.runtime, numberToHex(77, { size: 32 })];
      assert.deepEqual(await read(), set);
      await client.mine({ blocks: 2 });
      assert.deepEqual(await read(), set);
      await client.revert({ id });
      assert.deepEqual(await read(), [0n, 0, undefined, `0x${"0".repeat(64)}`]);
    });

    test("an impersonated contract sends, and its transaction can be traced", async () => {
      await client.setCode({ address: STRANGER, bytecode: "0x00" });
      await client.setBalance({ address: STRANGER, value: parseEther("1") });
      await assert.rejects(client.sendTransaction({ account: STRANGER, to: BOB, value: 1n }));
      await client.impersonateAccount({ address: STRANGER });
      const hash = await client.sendTransaction({ account: STRANGER, to: BOB, value: 1n });
      const receipt = await client.waitForTransactionReceipt({ hash });
      assert.deepEqual([receipt.status, receipt.from], ["success", STRANGER]);
      const { from } = await client.getTransaction({ hash });
      assert.equal(from, STRANGER);
      const trace = await client.request({
        method: "debug_traceTransaction" as never,
        params: [hash, { tracer: "callTracer" }] as never,
      });
      assert.equal((trace as { from: string }).from, STRANGER);
      await client.stopImpersonatingAccount({ address: STRANGER });
      await assert.rejects(client.sendTransaction({ account: STRANGER, to: BOB, value: 1n }));
    });

    test("blocks are made by hand, with times by hand", async () => {
      const before = await client.getBlock();
      await client.setNextBlockTimestamp({ timestamp: before.timestamp + 1000n });
      await client.mine({ blocks: 1 });
      const timed = await client.getBlock();
      assert.equal(timed.timestamp, before.timestamp + 1000n);
      await client.increaseTime({ seconds: 500 });
      await client.mine({ blocks: 1 });
      assert.ok((await client.getBlock()).timestamp >= timed.timestamp + 500n);
      await client.mine({ blocks: 3, interval: 60 });
      const last = await client.getBlock();
      const first = await client.getBlock({ blockNumber: last.number - 2n });
      assert.equal(last.timestamp - first.timestamp, 120n);
      await client.setBlockTimestampInterval({ interval: 5 });
      await client.mine({ blocks: 1 });
      assert.equal((await client.getBlock()).timestamp, last.timestamp + 5n);
      await client.removeBlockTimestampInterval();
      await assert.rejects(client.setNextBlockTimestamp({ timestamp: 5n }));
    });

    test("transactions wait while automatic blocks are off, and can be dropped", async () => {
      assert.equal(await client.getAutomine(), true);
      await client.setAutomine(false);
      assert.equal(await client.getAutomine(), false);
      const number = await client.getBlockNumber({ cacheTime: 0 });
      const send = (nonce: number) =>
        client.request({
          method: "eth_sendTransaction" as never,
          params: [{ from: ALICE, to: BOB, value: "0x1", nonce: numberToHex(nonce) }] as never,
        });
      const nonce = await client.getTransactionCount({ address: ALICE });
      const kept = (await send(nonce)) as Hex;
      const dropped = (await send(nonce + 1)) as Hex;
      assert.equal((await client.getTxpoolStatus()).pending, 2);
      assert.equal(Object.keys((await client.getTxpoolContent()).pending).length, 1);
      assert.ok((await client.inspectTxpool()).pending);
      await client.dropTransaction({ hash: dropped });
      assert.equal((await client.getTxpoolStatus()).pending, 1);
      assert.equal(await client.getBlockNumber({ cacheTime: 0 }), number);
      await client.mine({ blocks: 1 });
      assert.equal((await client.getTransactionReceipt({ hash: kept })).blockNumber, number + 1n);
      await client.setAutomine(true);
    });

    test("fees, gas limit, coinbase and mining by the clock", async () => {
      await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 123_456_789_000n });
      await client.setBlockGasLimit({ gasLimit: 12_345_678n });
      await client.setCoinbase({ address: STRANGER });
      await client.mine({ blocks: 1 });
      const block = await client.getBlock();
      assert.equal(block.baseFeePerGas, 123_456_789_000n);
      assert.equal(block.gasLimit, 12_345_678n);
      assert.equal(block.miner, STRANGER);
      await client.mine({ blocks: 1 });
      assert.equal((await client.getBlock()).gasLimit, 12_345_678n);
      await assert.rejects(client.setMinGasPrice({ gasPrice: 1n }));
      await client.setLoggingEnabled(false);
      await client.setLoggingEnabled(true);
      const number = await client.getBlockNumber({ cacheTime: 0 });
      // viem sends milliseconds in mode hardhat alone; this chain reads them in any mode.
      await client.setIntervalMining({ interval: mode === "anvil" ? 1_000 : 1 });
      await client.waitForTransactionReceipt({
        hash: await client
          .sendUnsignedTransaction({ from: STRANGER, to: BOB, value: 0n, gasPrice: 0n } as never)
          .catch(async () => {
            await client.setBalance({ address: STRANGER, value: parseEther("1") });
            return client.sendUnsignedTransaction({ from: STRANGER, to: BOB, value: 1n });
          }),
      });
      assert.ok((await client.getBlockNumber({ cacheTime: 0 })) > number);
      await client.setIntervalMining({ interval: 0 });
    });

    test("ERC-20 balances and allowances are set by hand", async () => {
      const account = (await client.getAddresses())[0]!;
      const hash = await client.deployContract({ ...token, args: [1_000n], account } as never);
      const { contractAddress } = await client.waitForTransactionReceipt({ hash });
      const at = { address: contractAddress!, abi: token.abi } as const;
      const control = (method: string, ...params: unknown[]) => client.request({ method, params } as never);
      await control("anvil_dealERC20", STRANGER, contractAddress, "0x7b");
      const balance = await client.readContract({
        ...at,
        functionName: "balanceOf",
        args: [STRANGER],
      });
      assert.equal(balance, 123n);
      await control("anvil_setERC20Allowance", account, STRANGER, contractAddress, "0x9");
      const allowance = { ...at, functionName: "allowance", args: [account, STRANGER] } as const;
      assert.equal(await client.readContract(allowance), 9n);
      await assert.rejects(control("anvil_dealERC20", STRANGER, account, "0x7b"));
      // Counts down from the call data, and reads a slot each time: no token, and each of its slots would be tried by a call.
      const reader = "0xf39f000000000000000000000000000000000000";
      await control("anvil_setCode", reader, "0x6103e85b80545060019003806003575f5260205ff3");
      await assert.rejects(control("anvil_dealERC20", STRANGER, reader, "0x7b"), /touches more than 64 storage slots/);
    });

    test("a state is dumped, the chain reset, and the state loaded again", async () => {
      await client.setBalance({ address: STRANGER, value: 5n });
      const state = await client.dumpState();
      await client.reset();
      assert.equal(await client.getBlockNumber({ cacheTime: 0 }), 0n);
      assert.equal(await client.getBalance({ address: STRANGER }), 0n);
      await client.loadState({ state });
      assert.equal(await client.getBalance({ address: STRANGER }), 5n);
    });
  });
}

test("viem's test client in mode ganache: the methods that ganache has", async (context) => {
  const node = await startTestNode({ dev: true, settings: ONE_PROCESS });
  context.after(() => node.stop());
  const client = testClient("ganache", node);
  const id = await client.snapshot();
  await client.setBalance({ address: STRANGER, value: parseEther("7") });
  await client.setCode({ address: STRANGER, bytecode: token.runtime });
  assert.equal(await client.getBalance({ address: STRANGER }), parseEther("7"));
  assert.equal(await client.getCode({ address: STRANGER }), token.runtime);
  const number = await client.getBlockNumber();
  await client.mine({ blocks: 2 });
  const { timestamp } = await client.getBlock();
  assert.equal(await client.getBlockNumber({ cacheTime: 0 }), number + 2n);
  await client.increaseTime({ seconds: 500 });
  await client.setNextBlockTimestamp({ timestamp: timestamp + 5000n });
  await client.setBlockGasLimit({ gasLimit: 12_345_678n });
  await client.mine({ blocks: 1 });
  const block = await client.getBlock();
  assert.deepEqual([block.timestamp, block.gasLimit], [timestamp + 5000n, 12_345_678n]);
  assert.equal(await client.getAutomine(), true);
  // In this mode viem calls miner_stop and miner_start, which are not for blocks here.
  await client.setAutomine(false);
  assert.equal(await client.getAutomine(), true);
  await assert.rejects(client.setAutomine(true));
  await client.revert({ id });
  assert.equal(await client.getBalance({ address: STRANGER }), 0n);
  assert.equal(await client.getBlockNumber({ cacheTime: 0 }), number);
});

test("anvil_reorg replaces blocks by others with raw and with described transactions", async (context) => {
  const node = await startTestNode({ dev: true, settings: ONE_PROCESS });
  context.after(() => node.stop());
  const request = async (method: string, ...params: unknown[]) =>
    (await node.node.provider.request({ method, params })) as never;
  const send = (value: string) => request("eth_sendTransaction", { from: ALICE, to: BOB, value });
  await request("anvil_impersonateAccount", STRANGER);
  await request("anvil_setBalance", STRANGER, "0xde0b6b3a7640000");
  for (const value of ["0x1", "0x2", "0x3"]) await send(value);
  const { raw }: { raw: Hex } = await request("eth_signTransaction", {
    from: BOB,
    to: STRANGER,
    value: "0x9",
    gas: "0x5208",
    gasPrice: "0xee6b2800",
    nonce: "0x0",
  });
  await request("anvil_reorg", 2, [
    [raw, 0],
    [{ from: ALICE, to: BOB, value: "0x5" }, 0],
    // Of the first account, as with anvil.
    [{ to: BOB, value: "0x6" }, 1],
    [{ from: STRANGER, to: BOB, value: "0x7" }, 1],
  ]);
  assert.equal(await request("eth_blockNumber"), "0x3");
  const valuesOf = async (number: string) => {
    const { transactions }: { transactions: { value: string; from: string; nonce: string }[] } = await request(
      "eth_getBlockByNumber",
      number,
      true,
    );
    return transactions.map(({ value, from, nonce }) => [value, from, nonce]).sort();
  };
  const [alice, bob] = [ALICE.toLowerCase(), BOB.toLowerCase()];
  assert.deepEqual(await valuesOf("0x2"), [
    ["0x5", alice, "0x1"],
    ["0x9", bob, "0x0"],
  ]);
  assert.deepEqual(await valuesOf("0x3"), [
    ["0x6", alice, "0x2"],
    ["0x7", STRANGER, "0x0"],
  ]);
  const place = { from: ALICE, to: BOB };
  for (const wrong of [[[place, 2]], [[place]], [[7, 0]], [[{ from: 7 }, 0]]]) {
    await assert.rejects(request("anvil_reorg", 2, wrong));
  }
  await assert.rejects(request("anvil_reorg", 4, [[place, 0]]), /Rollback depth must not exceed/);
});
