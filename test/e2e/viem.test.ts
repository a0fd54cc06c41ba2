import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  BaseError,
  ContractFunctionRevertedError,
  createWalletClient,
  type PublicClient,
  parseEther,
  type Transport,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";
import { patientHttp, patientWebSocket, viemClients } from "../support/viem-clients.ts";

const token = contract("Token");
let node: TestNode;

before(async () => {
  node = await startTestNode({ dev: true });
});
after(() => node.stop());

const clients = (transport: Transport = patientHttp(node.url)) => viemClients(node, transport);

/** viem goes on trying to connect for ever otherwise. */
async function closeSocket({ transport }: PublicClient): Promise<void> {
  const { getRpcClient } = transport as { getRpcClient?: () => Promise<{ close(): void }> };
  (await getRpcClient?.())?.close();
}

for (const kind of ["http", "webSocket"] as const) {
  test(`viem over ${kind} deploys an ERC-20, transfers and reads`, async (context) => {
    const { reader, wallet } = clients(kind === "http" ? patientHttp(node.url) : patientWebSocket(node.wsUrl));
    context.after(() => closeSocket(reader));

    const deployment = await wallet.deployContract({ ...token, args: [1_000n] });
    const { contractAddress, status } = await reader.waitForTransactionReceipt({
      hash: deployment,
    });
    assert.equal(status, "success");
    assert.ok(contractAddress);

    const to = DEV_ADDRESSES[1];
    const at = { address: contractAddress, abi: token.abi } as const;
    const hash = await wallet.writeContract({ ...at, functionName: "transfer", args: [to, 250n] });
    const receipt = await reader.waitForTransactionReceipt({ hash });
    assert.equal(receipt.logs.length, 1);
    assert.equal(await reader.readContract({ ...at, functionName: "balanceOf", args: [to] }), 250n);
    assert.equal(await reader.getCode({ address: contractAddress }), token.runtime);
  });
}

test("viem decodes a custom error and a revert reason", async () => {
  const { reader, wallet } = clients();
  const hash = await wallet.deployContract({ ...token, args: [5n] });
  const { contractAddress } = await reader.waitForTransactionReceipt({ hash });
  const at = { address: contractAddress!, abi: token.abi, account: DEV_ADDRESSES[0] } as const;

  const revertOf = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => assert.fail("the call must revert"),
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof BaseError);
    const revert = error.walk((cause) => cause instanceof ContractFunctionRevertedError);
    assert.ok(revert instanceof ContractFunctionRevertedError);
    return revert;
  };

  const custom = await revertOf(
    reader.simulateContract({ ...at, functionName: "transfer", args: [DEV_ADDRESSES[1], 6n] }),
  );
  assert.equal(custom.data?.errorName, "InsufficientBalance");
  assert.deepEqual(custom.data?.args, [DEV_ADDRESSES[0], 5n, 6n]);

  const text = await revertOf(
    reader.simulateContract({
      ...at,
      functionName: "transferFrom",
      args: [DEV_ADDRESSES[1], DEV_ADDRESSES[0], 1n],
    }),
  );
  assert.equal(text.reason, "Token: allowance too low");
});

test("transactions sent in reverse nonce order are all mined", async () => {
  const { reader } = clients();
  const account = privateKeyToAccount(DEV_KEYS[2]);
  const wallet = createWalletClient({ account, transport: patientHttp(node.url) });
  const first = await reader.getTransactionCount({ address: account.address });
  const hashes: `0x${string}`[] = [];
  for (let i = 4; i >= 0; i--) {
    hashes.push(
      await wallet.sendTransaction({
        chain: null,
        to: DEV_ADDRESSES[1],
        value: parseEther("0.001"),
        nonce: first + i,
        gas: 21_000n,
        maxFeePerGas: 10n ** 11n,
        maxPriorityFeePerGas: 10n ** 9n,
      }),
    );
  }
  for (const hash of hashes) {
    const receipt = await reader.waitForTransactionReceipt({ hash });
    assert.equal(receipt.status, "success");
  }
  assert.equal(await reader.getTransactionCount({ address: account.address }), first + 5);
});
