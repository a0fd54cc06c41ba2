import assert from "node:assert/strict";
import { test } from "node:test";
import evmint, { evmintPlugin } from "./hardhat.ts";

/** What Hardhat does with the hooks of a plugin, without Hardhat. */
async function hooksOf(plugin = evmint) {
  const { config, network } = plugin.hookHandlers;
  return { ...(await (await config()).default()), ...(await (await network()).default()) };
}

const connectionTo = (networkName: string, networkConfig: object = {}) => ({ networkName, networkConfig });

async function open(plugin = evmint, networkConfig = {}) {
  const { onRequest, closeConnection } = await hooksOf(plugin);
  const connection = connectionTo("evmint", networkConfig);
  const closed: unknown[] = [];
  return {
    closed,
    async ask(method: string, ...params: unknown[]) {
      const request = { jsonrpc: "2.0", id: 7, method, params } as const;
      const next = () => assert.fail("asked over HTTP");
      return (await onRequest({}, connection, request, next)) as {
        id: number;
        result?: unknown;
        error?: { code: number; data?: string };
      };
    },
    close: () => closeConnection({}, connection, async (_context, gone) => void closed.push(gone)),
  };
}

test("the plugin adds the network evmint to a configuration, with what the user says of it", async () => {
  const { extendUserConfig } = await hooksOf();
  const extended = (await extendUserConfig({ networks: { evmint: { from: "0x1" } } }, async (config) => config)) as {
    networks: { evmint: Record<string, unknown> };
  };
  assert.equal(extended.networks.evmint["type"], "http");
  assert.equal(extended.networks.evmint["accounts"], "remote");
  assert.equal(extended.networks.evmint["from"], "0x1");
  const remote = { networks: { evmint: { type: "http", url: "http://127.0.0.1:8545" } } };
  await assert.rejects(
    extendUserConfig(remote, async (config) => config),
    /evmintPlugin\({ network: NAME }\)/,
  );
});

test("each connection has a chain of its own, which ends with it", async () => {
  const [first, second] = await Promise.all([open(), open()]);
  const { result: accounts } = (await first.ask("eth_accounts")) as { result: string[] };
  const { id, result: hash } = await first.ask("eth_sendTransaction", { to: accounts[1], value: "0x1" });
  assert.equal(id, 7);
  const { result: receipt } = await first.ask("eth_getTransactionReceipt", hash);
  assert.equal((receipt as { from: string }).from, accounts[0]);
  assert.equal((await first.ask("eth_blockNumber")).result, "0x1");
  assert.equal((await second.ask("eth_blockNumber")).result, "0x0");
  await Promise.all([first.close(), second.close()]);
  assert.equal(first.closed.length, 1);
});

test("the sender, gas and price of a network's configuration are those of transactions that name none", async () => {
  const sender = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
  const { ask, close } = await open(evmint, { from: sender, gas: 50_000n, gasPrice: 3_000_000_000n });
  const { result: hash } = await ask("eth_sendTransaction", { to: sender });
  const { from, gas, gasPrice } = (await ask("eth_getTransactionByHash", hash)).result as Record<string, string>;
  assert.deepEqual([from, gas, gasPrice], [sender, "0xc350", "0xb2d05e00"]);
  const fees = { maxFeePerGas: "0xb2d05e01", maxPriorityFeePerGas: "0x1" };
  const { result: second } = await ask("eth_sendTransaction", { to: sender, ...fees });
  const { type } = (await ask("eth_getTransactionByHash", second)).result as Record<string, string>;
  assert.equal(type, "0x2");
  await close();
});

test("an error of the node is the response's error, and other networks are left alone", async () => {
  const { ask, close } = await open();
  assert.equal((await ask("eth_nope")).error?.code, -32601);
  await close();
  const { onRequest, closeConnection } = await hooksOf();
  const other = connectionTo("mainnet");
  const request = { jsonrpc: "2.0", id: 1, method: "eth_blockNumber" } as const;
  assert.equal(await onRequest({}, other, request, async () => "over HTTP"), "over HTTP");
  await closeConnection({}, other, async () => {});
});

test("evmintPlugin names the network and takes settings of the node", async () => {
  const plugin = evmintPlugin({ network: "local", settings: { "chain-id": "5" } });
  const { onRequest, closeConnection } = await hooksOf(plugin);
  const connection = connectionTo("local");
  const request = { jsonrpc: "2.0", id: 1, method: "eth_chainId" } as const;
  assert.deepEqual(await onRequest({}, connection, request, async () => assert.fail()), {
    jsonrpc: "2.0",
    id: 1,
    result: "0x5",
  });
  await closeConnection({}, connection, async () => {});
});
