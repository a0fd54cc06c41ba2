import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type BaseContract,
  ContractFactory,
  type ContractTransactionResponse,
  type InterfaceAbi,
  isCallException,
  JsonRpcProvider,
  Wallet,
  WebSocketProvider,
} from "ethers";
import { DEV_ADDRESSES, DEV_KEYS } from "../support/accounts.ts";
import { contract } from "../support/contracts.ts";
import { startTestNode, type TestNode } from "../support/test-node.ts";

type Token = BaseContract & {
  transfer(to: string, value: bigint): Promise<ContractTransactionResponse>;
  balanceOf(account: string): Promise<bigint>;
};

const artifact = contract("Token");
let node: TestNode;

before(async () => {
  node = await startTestNode({ dev: true });
});
after(() => node.stop());

for (const kind of ["http", "webSocket"] as const) {
  test(`ethers over ${kind} deploys, transfers, reads and decodes a custom error`, async () => {
    const provider =
      kind === "http"
        ? new JsonRpcProvider(node.url, undefined, { cacheTimeout: -1, pollingInterval: 20 })
        : new WebSocketProvider(node.wsUrl, undefined, { cacheTimeout: -1 });
    try {
      const wallet = new Wallet(DEV_KEYS[1], provider);
      const factory = new ContractFactory(artifact.abi as unknown as InterfaceAbi, artifact.bytecode, wallet);
      const deployed = (await factory.deploy(77n)) as Token;
      await deployed.waitForDeployment();
      const response = await deployed.transfer(DEV_ADDRESSES[0], 7n);
      const receipt = await response.wait();
      assert.equal(receipt?.status, 1);
      assert.equal(await deployed.balanceOf(DEV_ADDRESSES[0]), 7n);
      assert.ok(await provider.getBlock("latest"));

      const transfer = deployed.getFunction("transfer");
      await assert.rejects(transfer.staticCall(DEV_ADDRESSES[0], 71n), (error) => {
        assert.ok(isCallException(error));
        assert.equal(error.revert?.name, "InsufficientBalance");
        assert.deepEqual([...error.revert.args], [DEV_ADDRESSES[1], 70n, 71n]);
        return true;
      });
    } finally {
      await provider.destroy();
    }
  });
}

test("ethers sends from an account that the node holds", async () => {
  const provider = new JsonRpcProvider(node.url, undefined, { pollingInterval: 20 });
  try {
    const signer = await provider.getSigner(2);
    const response = await signer.sendTransaction({ to: DEV_ADDRESSES[0], value: 1n });
    assert.equal((await response.wait())?.status, 1);
    const signature = await signer.signMessage("hello");
    assert.match(signature, /^0x[0-9a-f]{130}$/);
  } finally {
    provider.destroy();
  }
});
