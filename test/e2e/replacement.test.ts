import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createPublicClient, createWalletClient } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { patientHttp } from "../support/viem-clients.ts";

let node: TestNode;

before(async () => {
  node = await startTestNode({ dev: true, settings: { "consensus.block-time": "manual" } });
});
after(() => node.stop());

test("a stuck transaction is replaced by one that pays 10 % more, and not by one that pays less", async () => {
  const account = privateKeyToAccount(DEV_KEYS[0]);
  const wallet = createWalletClient({ account, transport: patientHttp(node.url) });
  const reader = createPublicClient({ transport: patientHttp(node.url) });
  const send = (to: `0x${string}`, maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
    wallet.sendTransaction({
      chain: null,
      nonce: 0,
      gas: 21_000n,
      value: 1n,
      to,
      maxFeePerGas,
      maxPriorityFeePerGas,
    });

  const stuck = await send(DEV_ADDRESSES[1], 2_000_000_000n, 1_000_000_000n);
  await assert.rejects(send(DEV_ADDRESSES[2], 2_100_000_000n, 1_050_000_000n), /replacement transaction underpriced/);
  const replacing = await send(DEV_ADDRESSES[2], 2_200_000_000n, 1_100_000_000n);
  node.produceBlock();

  assert.equal((await reader.getTransactionReceipt({ hash: replacing })).status, "success");
  await assert.rejects(reader.getTransactionReceipt({ hash: stuck }), {
    name: "TransactionReceiptNotFoundError",
  });
});
