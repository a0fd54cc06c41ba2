import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { JsonRpcProvider, Wallet } from "ethers";
import { createPublicClient, createWalletClient } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { patientHttp } from "../support/viem-clients.ts";

const token = contract("Token");
const folder = mkdtempSync(join(tmpdir(), "evmint-free-gas-"));
const genesis = join(folder, "genesis.json");
let running: TestNode;

type BlockJson = { readonly baseFeePerGas: string };

function request<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T> {
  return running.node.provider.request({ method, params }) as Promise<T>;
}

before(async () => {
  writeFileSync(
    genesis,
    renderGenesis({ chainId: 9000n, timestamp: Math.floor(Date.now() / 1000) - 10, alloc: new Map(), freeGas: true }),
  );
  running = await startTestNode({ genesis, settings: { "consensus.block-time": "instant" } });
});

after(async () => {
  await running.stop();
  rmSync(folder, { recursive: true });
});

async function assertPricesAreZero(): Promise<void> {
  assert.equal(await request("eth_gasPrice"), "0x0");
  assert.equal(await request("eth_maxPriorityFeePerGas"), "0x0");
  assert.equal(await request("eth_baseFee"), "0x0");
  const history = await request<{ baseFeePerGas: string[]; reward: string[][] }>(
    "eth_feeHistory",
    "0x4",
    "latest",
    [50],
  );
  assert.ok(history.baseFeePerGas.every((fee) => fee === "0x0"));
  const { baseFeePerGas } = await request<BlockJson>("eth_getBlockByNumber", "latest", false);
  assert.equal(baseFeePerGas, "0x0");
}

test("zeroBaseFee: prices are 0 in the first block and after it", async () => {
  await assertPricesAreZero();
  const account = privateKeyToAccount(generatePrivateKey());
  const raw = await account.signTransaction({
    chainId: 9000,
    type: "eip1559",
    nonce: 0,
    gas: 21_000n,
    to: account.address,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
  });
  await request("eth_sendRawTransaction", raw);
  await assertPricesAreZero();
});

test("viem deploys and calls a contract from an account without ether", async () => {
  const chain = {
    id: 9000,
    name: "free",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [running.url] } },
  } as const;
  const account = privateKeyToAccount(generatePrivateKey());
  const transport = patientHttp(running.url);
  const reader = createPublicClient({ chain, transport, pollingInterval: 20 });
  const wallet = createWalletClient({ chain, transport, account });
  const hash = await wallet.deployContract({ ...token, args: [1_000n] });
  const { contractAddress, effectiveGasPrice } = await reader.waitForTransactionReceipt({ hash });
  assert.equal(effectiveGasPrice, 0n);
  const at = { address: contractAddress!, abi: token.abi } as const;
  const transfer = await wallet.writeContract({ ...at, functionName: "transfer", args: [account.address, 1n] });
  const { status } = await reader.waitForTransactionReceipt({ hash: transfer });
  assert.equal(status, "success");
  assert.equal(await reader.getBalance({ address: account.address }), 0n);
});

test("ethers sends from an account without ether, also with a gas price of 0", async () => {
  const provider = new JsonRpcProvider(running.url, undefined, { cacheTimeout: -1, pollingInterval: 20 });
  const wallet = new Wallet(generatePrivateKey(), provider);
  for (const prices of [{}, { gasPrice: 0n, type: 0 }]) {
    const sent = await wallet.sendTransaction({ to: wallet.address, ...prices });
    const receipt = await sent.wait();
    assert.equal(receipt?.status, 1);
    assert.equal(receipt?.gasPrice, 0n);
  }
  provider.destroy();
});

test("eth_sendTransaction, eth_fillTransaction and eth_estimateGas need no ether, nor prices", async () => {
  const from = await request<string>("personal_newAccount", "secret");
  await request("personal_unlockAccount", from, "secret", "0x12c");
  const call = { from, to: from };
  assert.equal(await request("eth_estimateGas", call), "0x5208");
  assert.equal(await request("eth_estimateGas", { ...call, maxFeePerGas: "0x0" }), "0x5208");
  const filled = await request<{ tx: { maxFeePerGas: string; gas: string } }>("eth_fillTransaction", call);
  assert.equal(filled.tx.maxFeePerGas, "0x0");
  for (const prices of [{}, { gasPrice: "0x0" }, { maxFeePerGas: "0x0", maxPriorityFeePerGas: "0x0" }]) {
    const hash = await request<string>("eth_sendTransaction", { ...call, ...prices });
    const receipt = await request<{ status: string }>("eth_getTransactionReceipt", hash);
    assert.equal(receipt.status, "0x1");
  }
});

test("zeroBaseFee: full blocks do not raise the base fee", async () => {
  const account = privateKeyToAccount(generatePrivateKey());
  // Creation code that loops until its gas is used.
  const raw = await account.signTransaction({
    chainId: 9000,
    type: "legacy",
    nonce: 0,
    gas: 16_000_000n,
    data: "0x5b600056",
    gasPrice: 0n,
  });
  await request("eth_sendRawTransaction", raw);
  await assertPricesAreZero();
});

test("zeroBaseFee cannot be set for blocks that exist", async () => {
  const home = mkdtempSync(join(tmpdir(), "evmint-paid-gas-"));
  const paid = join(folder, "paid.json");
  writeFileSync(paid, renderGenesis({ chainId: 9000n, timestamp: 1_700_000_000, alloc: new Map() }));
  const settings = { "consensus.block-time": "manual" };
  const first = await startTestNode({ genesis: paid, home, settings });
  await first.node.provider.request({ method: "eth_blockNumber", params: [] });
  first.produceBlock();
  await first.stop();
  const changed = JSON.parse(readFileSync(paid, "utf8"));
  changed.config.zeroBaseFee = true;
  writeFileSync(paid, JSON.stringify(changed));
  await assert.rejects(startTestNode({ genesis: paid, home, settings }), { code: "FORK_SCHEDULE_CHANGED" });
  rmSync(home, { recursive: true });
});
