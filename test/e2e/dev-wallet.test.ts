import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createWalletClient, custom } from "viem";
import { createNode, type EvmintNode } from "../../src/index.ts";
import { DEV_ADDRESSES } from "../support/accounts.ts";

let node: EvmintNode;
before(async () => {
  node = await createNode();
});
after(() => node.stop());

test("the provider of a dev chain is a wallet for pages: accounts, its chain, and no other", async () => {
  const wallet = createWalletClient({ transport: custom(node.provider) });
  assert.deepEqual((await wallet.requestAddresses()).slice(0, DEV_ADDRESSES.length), DEV_ADDRESSES);
  await wallet.switchChain({ id: 31_337 });
  await assert.rejects(wallet.switchChain({ id: 1 }), { name: "SwitchChainError", code: 4902 });
  const request = (method: string, ...params: unknown[]) => node.provider.request({ method, params });
  assert.equal(await request("wallet_addEthereumChain", { chainId: "0x7a69", chainName: "here", rpcUrls: [] }), null);
  await assert.rejects(request("wallet_addEthereumChain", { chainId: "0x1" }), {
    code: 4902,
    message: "unrecognized chain id 0x1: this node has the one chain 0x7a69",
  });
  await assert.rejects(request("wallet_switchEthereumChain", { chainId: 31_337 }), { code: -32602 });
  assert.deepEqual(await wallet.getCapabilities({ account: DEV_ADDRESSES[0], chainId: 31_337 }), {});
});
