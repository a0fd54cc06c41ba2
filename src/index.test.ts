import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createPublicClient, createWalletClient, custom } from "viem";
import { DEV_ADDRESSES } from "../test/support/accounts.ts";
import { fakeContext } from "../test/support/cli/fake-context.ts";
import { IS_NIGHTLY } from "../test/support/nightly.ts";
import { init } from "./cli/commands/init.ts";
import { createNode, type EvmintNode } from "./index.ts";

const [ALICE, BOB] = DEV_ADDRESSES;
const STRANGER = "0x00000000000000000000000000000000000beef1";

test("createNode gives a dev chain without a port, which viem can use", async () => {
  const node = await createNode();
  try {
    assert.deepEqual(node.urls, []);
    const wallet = createWalletClient({ account: ALICE, transport: custom(node.provider) });
    const reader = createPublicClient({ transport: custom(node.provider), pollingInterval: 10 });
    const hash = await wallet.sendTransaction({ chain: null, to: BOB, value: 5n });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, "success");
    assert.equal(await reader.getBalance({ address: BOB }), 10_000n * 10n ** 18n + 5n);
  } finally {
    await node.stop();
  }
});

test("the provider tells errors by code, and subscriptions by events", async () => {
  const node = await createNode({ settings: { "consensus.block-time": "manual" } });
  const { provider } = node;
  try {
    await assert.rejects(provider.request({ method: "eth_nothing" }), { code: 4200 });
    await assert.rejects(provider.request({ method: "eth_getBalance", params: ["0x1"] }), {
      code: -32602,
    });
    const id = await provider.request({ method: "eth_subscribe", params: ["newHeads"] });
    const message = new Promise<{ data: { subscription: unknown; result: { number: string } } }>((resolve) =>
      provider.once("message", resolve),
    );
    node.produceBlock();
    const { data } = await message;
    assert.equal(data.subscription, id);
    assert.equal(data.result.number, "0x1");
  } finally {
    await node.stop();
  }
  await assert.rejects(provider.request({ method: "eth_chainId" }), { code: 4200 });
});

test("a node with a home finds its chain again", async (context) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-home-"));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const options = { home, settings: { "consensus.block-time": "manual" } };
  const first = await createNode(options);
  const hash = first.produceBlock();
  await first.stop();
  const second = await createNode(options);
  const block = await second.provider.request({
    method: "eth_getBlockByNumber",
    params: ["latest", false],
  });
  await second.stop();
  assert.equal((block as { hash: string }).hash, hash);
});

test("a transaction's receipt is there once its hash was answered, as over HTTP", async (context) => {
  const node = await createNode();
  context.after(() => node.stop());
  const { provider } = node;
  for (let i = 0; i < 10; i++) {
    const hash = await provider.request({
      method: "eth_sendTransaction",
      params: [{ from: ALICE, to: BOB, value: "0x1" }],
    });
    const receipt = await provider.request({
      method: "eth_getTransactionReceipt",
      params: [hash],
    });
    assert.equal((receipt as { transactionHash: string } | null)?.transactionHash, hash);
  }
  const hashes = await Promise.all(
    Array.from({ length: 20 }, () =>
      provider.request({
        method: "eth_sendTransaction",
        params: [{ from: ALICE, to: BOB, value: "0x1" }],
      }),
    ),
  );
  for (const hash of hashes) {
    const params = [hash];
    assert.ok(await provider.request({ method: "eth_getTransactionReceipt", params }));
  }
});

test("an option or setting that does not exist is an error that names the nearest", async () => {
  const wrong = async (options: object, nearest: string) =>
    assert.rejects(createNode(options), (error: Error & { details?: object }) => {
      assert.equal((error as { code?: string }).code, "CONFIG_UNKNOWN_KEY");
      assert.equal((error.details as { nearest?: string }).nearest, nearest);
      return true;
    });
  await wrong({ hom: "x" }, "home");
  await wrong({ "json-rpc.api": "eth" }, 'settings: { "json-rpc.api": … }');
  await wrong({ settings: { "json-rpc.apis": "eth" } }, "json-rpc.api");
});

test("a home made by init is opened as the chain it is", async (context) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-home-"));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  const { context: cli } = fakeContext();
  init({ home, chainId: "4242" }, cli);
  const node = await createNode({ home });
  const chainId = await node.provider.request({ method: "eth_chainId" });
  await node.stop();
  assert.equal(chainId, "0x1092");
});

test("the methods of a node are functions with types", async () => {
  await using node = await createNode();
  const [alice, bob] = node.accounts;
  const id = await node.snapshot();
  await node.setBalance(STRANGER, 5n * 10n ** 18n);
  const balance = await node.rpc.eth_getBalance(STRANGER, "latest");
  assert.equal(BigInt(balance), 5n * 10n ** 18n);
  await node.impersonateAccount(STRANGER);
  const hash = await node.rpc.eth_sendTransaction({ from: STRANGER, to: bob!.address, value: 7n });
  const receipt = await node.rpc.eth_getTransactionReceipt(hash);
  assert.equal(receipt?.from, STRANGER);
  await node.mine(3, 60);
  const block = await node.rpc.eth_getBlockByNumber("latest", false);
  const earlier = await node.rpc.eth_getBlockByNumber("0x3", false);
  assert.equal(Number(block!.timestamp) - Number(earlier!.timestamp), 60);
  assert.equal(await node.revert(id), true);
  assert.equal(await node.rpc.eth_blockNumber(), "0x0");
  assert.equal(await node.rpc.eth_getBalance(STRANGER), "0x0");
  await assert.rejects(node.rpc.eth_getBalance("0x1"), { code: -32602 });
  const call = { from: alice!.address, to: bob!.address, value: 1n, gas: 21_000n };
  assert.equal(await node.rpc.eth_call(call, undefined, { [STRANGER]: { balance: 1n } }), "0x");
});

test("many nodes run in one process, each with a chain of its own", async () => {
  const nodes = await Promise.all(Array.from({ length: IS_NIGHTLY ? 200 : 40 }, () => createNode()));
  try {
    const balances = await Promise.all(
      nodes.map(async ({ provider, accounts }, i) => {
        const value = `0x${(i + 1).toString(16)}`;
        const [from] = accounts;
        const params = [{ from: from!.address, to: STRANGER, value }];
        await provider.request({ method: "eth_sendTransaction", params });
        return provider.request({ method: "eth_getBalance", params: [STRANGER, "latest"] });
      }),
    );
    assert.deepEqual(
      balances.map(Number),
      nodes.map((_, i) => i + 1),
    );
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
});

test("a node in memory writes no chain to disk, and is stopped at the end of its scope", async () => {
  const folder = mkdtempSync(join(tmpdir(), "evmint-scope-"));
  let provider: EvmintNode["provider"];
  {
    await using node = await createNode({
      home: folder,
      settings: { "in-memory": "true", "ipc.path": "evmint.ipc" },
    });
    provider = node.provider;
    assert.deepEqual(
      node.urls.map((url) => url.endsWith("evmint.ipc")),
      [true],
    );
    node.produceBlock();
    assert.equal(await provider.request({ method: "eth_blockNumber" }), "0x1");
    const first = await provider.request({ method: "hardhat_metadata" });
    await using other = await createNode();
    const second = await other.provider.request({ method: "hardhat_metadata" });
    const idOf = (metadata: unknown) => (metadata as { instanceId: string }).instanceId;
    assert.notEqual(idOf(first), idOf(second));
  }
  await assert.rejects(provider.request({ method: "eth_chainId" }), { code: 4200 });
  assert.equal(existsSync(join(folder, "data")), false);
  rmSync(folder, { recursive: true });
});

test("errors of createNode name its settings, and nothing of a command line", async () => {
  await assert.rejects(createNode({ settings: { "consensus.block-tme": "1s" } }), {
    code: "CONFIG_UNKNOWN_KEY",
    details: { key: "consensus.block-tme", source: "settings of createNode", nearest: "consensus.block-time" },
  });
  await assert.rejects(createNode({ settings: { "consensus.block-time": "soon" } }), {
    code: "CONFIG_INVALID",
    details: { key: "consensus.block-time", origin: "settings of createNode" },
  });
});

/** The status of Remix's preflight, and whether it may send. */
async function preflight(url: string, origin: string): Promise<[status: number, allowed: string | null]> {
  const headers = {
    origin,
    "access-control-request-method": "POST",
    "access-control-request-headers": "content-type",
  };
  const { status, headers: answer } = await fetch(url, { method: "OPTIONS", headers });
  return [status, answer.get("access-control-allow-origin")];
}

test("a page on the net may call a dev chain only when its origin is added, which leaves the default ones open", async () => {
  const remix = "https://remix.ethereum.org";
  const wallet = "chrome-extension://abcdefghij";
  const open = async (changes: Readonly<Record<string, string>>) => {
    const node = await createNode({ settings: { "json-rpc.address": "127.0.0.1:0", ...changes } });
    const url = node.urls[0]!;
    const found = [remix, wallet, "http://localhost:5173", "https://stranger.example"].map((origin) =>
      preflight(url, origin),
    );
    const allowed = (await Promise.all(found)).map(([, origin]) => origin);
    await node.stop();
    return allowed;
  };
  assert.deepEqual(await open({}), [null, wallet, "http://localhost:5173", null]);
  const added = await open({ "json-rpc.cors-origins": `+${remix}` });
  assert.deepEqual(added, [remix, wallet, "http://localhost:5173", null]);
});

test("an address of one listener opens both, unless json-rpc.enable says otherwise", async () => {
  const settings = { "json-rpc.ws-address": "127.0.0.1:0" };
  const node = await createNode({ settings });
  assert.equal(node.urls.length, 2);
  assert.equal(new Set(node.urls).size, 2);
  await node.stop();
  const closed = await createNode({ settings: { ...settings, "json-rpc.enable": "false" } });
  assert.deepEqual(closed.urls, []);
  await closed.stop();
});
