/** `anvil_setChainId`: the chain id of what comes, while blocks that are there keep theirs. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { createNode, type EvmintNode } from "../../src/index.ts";

/** Returns the chain id, as code and as what a creation returns. */
const CHAIN_ID = "0x465f5260205ff3";
const STORES_CHAIN_ID = "0x465f5500";

const chainIdOf = async (node: EvmintNode, block = "latest") =>
  BigInt(await node.rpc.eth_call({ data: CHAIN_ID }, block as "latest"));

async function send(node: EvmintNode): Promise<`0x${string}`> {
  const { address } = node.accounts[0]!;
  return node.rpc.eth_sendTransaction({ from: address, data: STORES_CHAIN_ID, gas: "0x186a0" });
}

/** The chain id that the transaction stored, by executing its block again. */
async function storedAgain(node: EvmintNode, hash: `0x${string}`): Promise<bigint> {
  const { structLogs } = (await node.provider.request({ method: "debug_traceTransaction", params: [hash, {}] })) as {
    structLogs: readonly { op: string; stack?: readonly string[] }[];
  };
  return BigInt(structLogs.find(({ op }) => op === "SSTORE")!.stack!.at(-2)!);
}

test("anvil_setChainId changes chain id, network id, calls, signatures and blocks from then on", async () => {
  await using node = await createNode();
  const before = await send(node);
  const own = await chainIdOf(node);
  const { address } = node.accounts[0]!;
  const { raw } = await node.rpc.eth_signTransaction({
    from: address,
    to: address,
    gas: "0x5208",
    nonce: "0x1",
    maxFeePerGas: "0x77359400",
    maxPriorityFeePerGas: "0x1",
  });
  assert.equal(await node.rpc.anvil_setChainId("0x4d2"), null);
  assert.equal(await node.rpc.eth_chainId(), "0x4d2");
  assert.equal(await node.rpc.net_version(), "1234");
  assert.deepEqual([await chainIdOf(node), await chainIdOf(node, "0x0")], [own, own]);
  await assert.rejects(node.rpc.eth_sendRawTransaction(raw), { code: -32000, message: /invalid chain id/ });
  const after = await send(node);
  assert.equal((await node.rpc.eth_getTransactionByHash(after))?.chainId, "0x4d2");
  assert.equal(await chainIdOf(node), 1234n);
  assert.deepEqual([await storedAgain(node, before), await storedAgain(node, after)], [own, 1234n]);
  for (const value of [-1, 1.5, "0x10000000000000000", null, "one"]) {
    await assert.rejects(node.provider.request({ method: "anvil_setChainId", params: [value] }), { code: -32602 });
  }
});

test("anvil_setChainId holds over restarts and reverts, and a reset has the chain's own again", async (context) => {
  const home = mkdtempSync(join(tmpdir(), "evmint-chain-id-"));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  let node = await createNode({ home });
  const own = await node.rpc.eth_chainId();
  const first = await send(node);
  const snapshot = await node.rpc.evm_snapshot();
  await node.rpc.anvil_mine("0x2");
  await node.rpc.anvil_setChainId(77 as never);
  const second = await send(node);
  await node.stop();
  node = await createNode({ home, dev: true });
  assert.equal(await node.rpc.eth_chainId(), "0x4d");
  assert.deepEqual([await storedAgain(node, first), await storedAgain(node, second)], [BigInt(own), 77n]);
  await node.rpc.evm_revert(snapshot);
  assert.equal(await node.rpc.eth_chainId(), "0x4d");
  const third = await send(node);
  assert.deepEqual([await storedAgain(node, first), await storedAgain(node, third)], [BigInt(own), 77n]);
  await node.rpc.anvil_reset();
  assert.equal(await node.rpc.eth_chainId(), own);
  assert.equal(await storedAgain(node, await send(node)), BigInt(own));
  await node.stop();
});
