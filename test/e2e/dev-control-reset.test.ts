/** `hardhat_reset` and `anvil_reset` on a running node: to a fork, to another block of it, to a chain of its own. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { createTestClient, custom, publicActions } from "viem";
import { createNode } from "../../src/index.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";
import { overHttp } from "../support/clients.ts";
import { startEvmintd } from "../support/evmintd.ts";
import { ONE_PROCESS, startTestNode } from "../support/test-node.ts";
import { until } from "../support/until.ts";
import { WsClient } from "../support/ws-client.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000beef1";
/** The head of the remote chain; each block of it sends 1 wei to the stranger. */
const REMOTE_HEAD = 4;

const folder = mkdtempSync(join(tmpdir(), "evmint-reset-"));
let remote: Awaited<ReturnType<typeof startEvmintd>>;

async function call<T = string>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const { result, error } = await overHttp(url, method, params);
  assert.equal(error, undefined, `${method}: ${error?.message}`);
  return result as T;
}

const sendOne = (url: string) =>
  call(url, "eth_sendTransaction", { from: ALICE, to: STRANGER, value: "0x1", gas: "0x5208" });

/** What a reset begins anew. */
async function beginning(url: string) {
  const [chainId, number, balance] = await Promise.all([
    call(url, "eth_chainId"),
    call(url, "eth_blockNumber"),
    call(url, "eth_getBalance", STRANGER, "latest"),
  ]);
  return { chainId: Number(chainId), number: Number(number), balance: Number(balance) };
}

const instanceOf = async (url: string) => (await call<{ instanceId: string }>(url, "hardhat_metadata")).instanceId;

before(async () => {
  remote = await startEvmintd(join(folder, "remote"), ["--dev", "--chain-id", "777"]);
  for (let i = 0; i < REMOTE_HEAD; i++) {
    await sendOne(remote.url);
    // Each in a block of its own.
    await until(async () => Number(await call(remote.url, "eth_blockNumber")) > i, "the block");
  }
});
after(async () => {
  remote.child.kill("SIGKILL");
  await remote.exited;
  rmSync(folder, { recursive: true, force: true });
});

for (const inMemory of [false, true]) {
  describe(`a dev chain ${inMemory ? "in memory" : "on disk"}`, () => {
    let node: Awaited<ReturnType<typeof startTestNode>>;
    before(async () => {
      node = await startTestNode({
        dev: true,
        settings: { ...ONE_PROCESS, "in-memory": String(inMemory) },
        expectedErrors: [/^error rpc: call failed method=hardhat_reset .*the remote chain has no block 9999/],
      });
    });
    after(() => node.stop());
    afterEach(() => call(node.url, "hardhat_reset"));

    test("forks a block of another chain and forgets everything of its own", async () => {
      const { url } = node;
      const own = await beginning(url);
      await sendOne(url);
      await call(url, "anvil_setBalance", BOB, "0x5");
      await call(url, "evm_increaseTime", 1e6);
      await call(url, "anvil_impersonateAccount", STRANGER);
      const id = await call(url, "evm_snapshot");
      const filter = await call(url, "eth_newBlockFilter");
      await call(url, "evm_setAutomine", false);
      await sendOne(url);
      const instance = await instanceOf(url);

      const forking = { jsonRpcUrl: remote.url, blockNumber: 3 };
      assert.equal(await call<boolean>(url, "hardhat_reset", { forking }), true);
      assert.deepEqual(await beginning(url), { chainId: 777, number: 3, balance: 3 });
      assert.notEqual(await instanceOf(url), instance);
      const { hash } = await call<{ hash: string }>(remote.url, "eth_getBlockByNumber", "0x3", false);
      const { forkedNetwork } = await call<{ forkedNetwork: unknown }>(url, "anvil_metadata");
      assert.deepEqual(forkedNetwork, { chainId: 777, forkBlockNumber: 3, forkBlockHash: hash });
      const { forkConfig } = await call<{ forkConfig: Record<string, unknown> }>(url, "anvil_nodeInfo");
      assert.equal(forkConfig["forkUrl"], remote.url);
      assert.equal(await call<boolean>(url, "evm_revert", id), false);
      assert.notEqual((await overHttp(url, "eth_getFilterChanges", [filter])).error, undefined);
      assert.equal(await call<boolean>(url, "anvil_getAutomine"), true);
      assert.deepEqual(await call<unknown>(url, "txpool_status"), {
        pending: "0x0",
        queued: "0x0",
      });
      const request = { from: STRANGER, to: ALICE, value: "0x0", gasPrice: "0x0" };
      assert.notEqual((await overHttp(url, "eth_sendTransaction", [request])).error, undefined);
      await sendOne(url);
      const { timestamp } = await call<{ timestamp: string }>(url, "eth_getBlockByNumber", "latest", false);
      assert.ok(Number(timestamp) < Date.now() / 1000 + 1e5);
      assert.deepEqual(await beginning(url), { chainId: 777, number: 4, balance: 4 });

      // Another block through the node that is known.
      await call(url, "anvil_reset", { forking: { blockNumber: 1 } });
      assert.deepEqual(await beginning(url), { chainId: 777, number: 1, balance: 1 });
      await call(url, "anvil_reset", { forking: {} });
      assert.deepEqual(await beginning(url), { chainId: 777, number: REMOTE_HEAD, balance: 4 });
      await call(url, "anvil_reset");
      assert.deepEqual(await beginning(url), own);
    });

    test("has another instance id after each reset, and stays as it is when one fails", async () => {
      const { url } = node;
      const ids = [await instanceOf(url)];
      for (const forking of [undefined, { jsonRpcUrl: remote.url, blockNumber: 2 }]) {
        for (let i = 0; i < 2; i++) {
          await call(url, "hardhat_reset", { forking });
          ids.push(await instanceOf(url));
        }
      }
      assert.equal(new Set(ids).size, 5);
      const before = await beginning(url);
      for (const forking of [
        { jsonRpcUrl: remote.url, blockNumber: 9999 },
        { jsonRpcUrl: "ftp://127.0.0.1" },
        { jsonRpcUrl: 5 },
        7,
      ]) {
        const { error } = await overHttp(url, "hardhat_reset", [{ forking }]);
        assert.ok(error, JSON.stringify(forking));
      }
      assert.deepEqual(await beginning(url), before);
      assert.equal(await instanceOf(url), ids.at(-1));
    });

    test("keeps its subscribers, and calls that arrive during a reset wait for it", async () => {
      const { url } = node;
      const socket = await WsClient.open(node.wsUrl);
      try {
        const subscription = await socket.subscribe("newHeads");
        const head = new Promise<{ number: string }>((resolve) => socket.on(subscription, resolve));
        const forking = { jsonRpcUrl: remote.url, blockNumber: 3 };
        await Promise.all([
          call(url, "anvil_reset", { forking }),
          ...Array.from({ length: 20 }, () => call(url, "eth_getBalance", ALICE, "latest")),
          call(url, "anvil_reset", { forking: { ...forking, blockNumber: 2 } }),
        ]);
        await call(url, "anvil_reset", { forking });
        await sendOne(url);
        assert.equal(Number((await head).number), 4);
      } finally {
        socket.close();
      }
    });
  });
}

test("viem's test client in process: reset to a fork, to its newest block, and back", async () => {
  await using node = await createNode();
  const client = createTestClient({ mode: "anvil", transport: custom(node.provider) }).extend(publicActions);
  const number = () => client.getBlockNumber({ cacheTime: 0 });
  await client.reset({ jsonRpcUrl: remote.url, blockNumber: 2n });
  assert.equal(await number(), 2n);
  assert.equal(await client.getChainId(), 777);
  await client.mine({ blocks: 1 });
  await client.reset();
  assert.equal(await number(), BigInt(REMOTE_HEAD));
  await node.reset();
  assert.equal(await number(), 0n);
});

test("a node that is killed after a reset comes back with the chain that it was reset to", async () => {
  const home = join(folder, "killed");
  const flags = ["--dev", "--fork-url", remote.url, "--fork-block", "1"];
  const resets = [
    { forking: { jsonRpcUrl: remote.url, blockNumber: 3 } },
    {},
    { forking: { jsonRpcUrl: remote.url, blockNumber: 2 } },
  ];
  let before: unknown;
  for (const options of resets) {
    const { child, exited, url } = await startEvmintd(home, flags);
    if (before !== undefined) assert.deepEqual(await beginning(url), before);
    await call(url, "hardhat_reset", options);
    await sendOne(url);
    before = await beginning(url);
    child.kill("SIGKILL");
    await exited;
  }
  const { child, exited, url } = await startEvmintd(home, flags);
  assert.deepEqual(await beginning(url), before);
  child.kill("SIGKILL");
  await exited;
});
