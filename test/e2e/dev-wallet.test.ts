import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createWalletClient, custom } from "viem";
import { createNode, type EvmintNode, ProviderRpcError } from "../../src/index.ts";

let node: EvmintNode;
before(async () => {
  node = await createNode();
});
after(() => node.stop());

const ask = (method: string, ...params: unknown[]) => node.provider.request({ method, params });
const rejected = (code: number) => (error: unknown) => error instanceof ProviderRpcError && error.code === code;
const CHAIN = "0x7a69";
const alice = () => node.accounts[0]!.address;
const bob = () => node.accounts[1]!.address;

type Status = {
  readonly status: number;
  readonly atomic: boolean;
  readonly chainId: string;
  readonly receipts?: readonly {
    readonly status: string;
    readonly blockNumber: string;
    readonly transactionHash: string;
  }[];
};

/** The first status that is not pending; each block brings the bundle further. */
async function statusOf(id: unknown): Promise<Status> {
  for (;;) {
    const status = (await ask("wallet_getCallsStatus", id)) as Status;
    if (status.status !== 100) return status;
    await new Promise(setImmediate);
  }
}

const send = async (...calls: object[]) => {
  const request = { version: "2.0.0", from: alice(), chainId: CHAIN, atomicRequired: false, calls };
  return ((await ask("wallet_sendCalls", request)) as { readonly id: string }).id;
};

test("eth_requestAccounts are the accounts of the node", async () => {
  assert.deepEqual(await ask("eth_requestAccounts"), await ask("eth_accounts"));
  const wallet = createWalletClient({ transport: custom(node.provider) });
  assert.equal((await wallet.requestAddresses()).length, node.accounts.length);
});

for (const method of ["wallet_switchEthereumChain", "wallet_addEthereumChain"]) {
  test(`${method} is null for the node's chain and 4902 for others`, async () => {
    assert.equal(await ask(method, { chainId: CHAIN, chainName: "dev", rpcUrls: [] }), null);
    await assert.rejects(ask(method, { chainId: "0x1" }), rejected(4902));
    await assert.rejects(ask(method, {}), rejected(-32602));
    await assert.rejects(ask(method, { chainId: "1" }), rejected(-32602));
  });
}

test("wallet_getCapabilities says that calls are not atomic, for known accounts and this chain", async () => {
  assert.deepEqual(await ask("wallet_getCapabilities", alice()), { [CHAIN]: { atomic: { status: "unsupported" } } });
  assert.deepEqual(await ask("wallet_getCapabilities", alice(), ["0x1"]), {});
  await assert.rejects(ask("wallet_getCapabilities", `0x${"11".repeat(20)}`), rejected(-32000));
});

test("wallet_sendCalls sends each call as a transaction, in order; wallet_getCallsStatus has the receipts", async () => {
  const status = await statusOf(await send({ to: bob(), value: "0x1" }, { to: bob(), value: "0x2" }));
  assert.equal(status.status, 200);
  assert.equal(status.atomic, false);
  assert.equal(status.chainId, CHAIN);
  const [first, second] = status.receipts!;
  assert.ok(BigInt(first!.blockNumber) < BigInt(second!.blockNumber));
  const { value } = (await ask("eth_getTransactionByHash", second!.transactionHash)) as { readonly value: string };
  assert.equal(value, "0x2");
});

test("a later call that can only be estimated after the one before is sent", async () => {
  // A contract that reverts until it has a balance.
  const code = "0x47600857600080fd5b00";
  const contract = `0x${"c0de".padStart(40, "0")}`;
  await ask("anvil_setCode", contract, code);
  await assert.rejects(ask("eth_estimateGas", { from: alice(), to: contract, data: "0x00" }), rejected(3));
  // The money comes with a contract that destroys itself: the code has to be there before it can be paid.
  const pay = `0x73${contract.slice(2)}ff`;
  const status = await statusOf(await send({ data: pay, value: "0x5" }, { to: contract, data: "0x00" }));
  assert.equal(status.status, 200);
});

test("a call that reverts at its estimate ends the bundle: 600, with the receipts so far", async () => {
  const contract = `0x${"bad".padStart(40, "0")}`;
  await ask("anvil_setCode", contract, "0x60006000fd");
  const status = await statusOf(await send({ to: bob() }, { to: contract }, { to: bob() }));
  assert.equal(status.status, 600);
  assert.equal(status.receipts!.length, 1);
  await assert.rejects(send({ to: contract }, { to: bob() }), rejected(3));
});

test("wallet_getCallsStatus is 100 until all calls are in blocks", async () => {
  await ask("evm_setAutomine", false);
  const id = await send({ to: bob() });
  const pending = (await ask("wallet_getCallsStatus", id)) as Status;
  assert.equal(pending.status, 100);
  assert.equal(pending.receipts, undefined);
  await ask("evm_setAutomine", true);
  const status = await statusOf(id);
  assert.deepEqual([status.status, status.atomic], [200, true]);
});

test("wallet_sendCalls rejects with the codes of EIP-5792", async () => {
  const call = { to: bob() };
  const sendWith = (changes: object) =>
    ask("wallet_sendCalls", { version: "2.0.0", from: alice(), chainId: CHAIN, calls: [call], ...changes });
  await assert.rejects(sendWith({ chainId: "0x1" }), rejected(5710));
  await assert.rejects(sendWith({ capabilities: { paymasterService: { url: "x" } } }), rejected(5700));
  await sendWith({ capabilities: { paymasterService: { url: "x", optional: true } } });
  await assert.rejects(sendWith({ calls: [{ ...call, capabilities: { auxiliaryFunds: {} } }] }), rejected(5700));
  await assert.rejects(sendWith({ atomicRequired: true, calls: [call, call] }), rejected(5760));
  await sendWith({ atomicRequired: true });
  await sendWith({ id: "mine" });
  await assert.rejects(sendWith({ id: "mine" }), rejected(5720));
  await assert.rejects(sendWith({ calls: Array(101).fill(call) }), rejected(5740));
  await assert.rejects(sendWith({ calls: [] }), rejected(-32602));
  await assert.rejects(sendWith({ id: "x".repeat(9_000) }), rejected(-32602));
  await assert.rejects(ask("wallet_getCallsStatus", "nothing"), rejected(5730));
});

test("viem sends calls and waits for their status", async () => {
  const wallet = createWalletClient({ account: alice(), transport: custom(node.provider), pollingInterval: 10 });
  const { id } = await wallet.sendCalls({ chain: { id: 31337 } as never, calls: [{ to: bob(), value: 1n }] });
  const { status, statusCode } = await wallet.waitForCallsStatus({ id });
  assert.deepEqual([status, statusCode], ["success", 200]);
});

test("block 0 of a dev chain is traced: it has no transactions", async () => {
  const { hash } = (await ask("eth_getBlockByNumber", "0x0", false)) as { readonly hash: string };
  const byHash = ["debug_traceBlockByHash", "debug_intermediateRoots", "debug_standardTraceBlockToFile"];
  for (const method of byHash) assert.deepEqual(await ask(method, hash), [], method);
  for (const block of ["0x0", "earliest"]) assert.deepEqual(await ask("debug_traceBlockByNumber", block), []);
});

test("miner_stop does nothing on a dev chain either, and miner_start is not supported", async () => {
  assert.equal(await ask("miner_stop"), null);
  assert.equal(await ask("hardhat_getAutomine"), true);
  await assert.rejects(ask("miner_start", "0x1"), rejected(-32000));
});

test("a gas limit above what a block has is the reason, and not the fee that comes of it", async () => {
  const request = { from: alice(), to: bob(), gas: "0xffffffff", gasPrice: "0x77359400" };
  await assert.rejects(ask("eth_sendTransaction", request), /transaction gas limit too high/);
  await assert.rejects(
    ask("eth_sendTransaction", { ...request, gas: "0x5208", gasPrice: "0x2d79883d2000" }),
    /configured cap/,
  );
});

test("the wallet's methods are on dev chains only", async () => {
  const methods = ["eth_requestAccounts", "wallet_switchEthereumChain", "wallet_sendCalls"];
  const { createMethodRegistry } = await import("../../src/rpc/methods/methods.ts");
  const registry = createMethodRegistry({ dev: false });
  for (const method of methods) assert.equal(registry.get(method), undefined);
});
