import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestModules } from "../../../../test/support/rpc/test-chain.ts";
import { ZERO_HASH } from "../../../base/primitives/hash.ts";
import { hardhatGetAutomine } from "./blocks.ts";
import { anvilNodeInfo, hardhatMetadata } from "./client.ts";

const base = createTestModules();
const devChain = { instanceId: ZERO_HASH, isAutomine: true, order: "fees" as const, fork: undefined };
const modules = { ...base, node: { ...base.node, devChain: () => devChain } };
const head = base.blocks.at(-1)!.block;

test("hardhat_metadata names client, chain and head, with numbers as JSON integers", async () => {
  assert.deepEqual(await hardhatMetadata.call(modules), {
    clientVersion: (await modules.node.info()).clientVersion,
    chainId: Number(modules.chain.config.chainId),
    instanceId: ZERO_HASH,
    latestBlockNumber: 2,
    latestBlockHash: head.hash,
  });
});

test("hardhat_getAutomine says whether blocks are instant", async () => {
  assert.equal(await hardhatGetAutomine.call(modules), true);
  const node = { devChain: () => ({ ...devChain, isAutomine: false, order: "fees" as const, fork: undefined }) };
  assert.equal(await hardhatGetAutomine.call({ node }), false);
});

test("anvil_nodeInfo has anvil's members with the values of the head", async () => {
  const baseFee = head.header.baseFeePerGas!;
  assert.deepEqual(await anvilNodeInfo.call(modules), {
    currentBlockNumber: "0x2",
    currentBlockTimestamp: head.header.timestamp,
    currentBlockHash: head.hash,
    hardFork: "Osaka",
    transactionOrder: "fees",
    environment: {
      baseFee: `0x${baseFee.toString(16)}`,
      chainId: Number(modules.chain.config.chainId),
      gasLimit: `0x${head.header.gasLimit.toString(16)}`,
      gasPrice: `0x${(baseFee + 5n).toString(16)}`,
    },
    forkConfig: { forkUrl: null, forkBlockNumber: null, forkRetryBackoff: null },
  });
});

for (const method of [hardhatMetadata, hardhatGetAutomine, anvilNodeInfo]) {
  test(`${method.name} takes no parameters`, async () => {
    await assert.rejects(method.call(modules, [1]), { code: "RPC_INVALID_PARAMS" });
  });
}
