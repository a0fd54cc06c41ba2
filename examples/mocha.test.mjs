// npx mocha examples/mocha.test.mjs
import assert from "node:assert/strict";
import { BrowserProvider, parseEther } from "ethers";
import { createNode } from "evmint";

describe("with ethers", () => {
  let node;
  let provider;
  before(async () => {
    node = await createNode();
    provider = new BrowserProvider(node.provider, undefined, { cacheTimeout: -1 });
  });
  after(async () => {
    provider.destroy();
    await node.stop();
  });

  it("sends ether", async () => {
    const signer = await provider.getSigner(0);
    const to = node.accounts[1].address;
    const before = await provider.getBalance(to);
    const response = await signer.sendTransaction({ to, value: parseEther("1") });
    assert.equal((await response.wait()).status, 1);
    assert.equal(await provider.getBalance(to), before + parseEther("1"));
  });

  it("sets what no transaction could", async () => {
    const [, , carol] = node.accounts;
    await node.setBalance(carol.address, 1n);
    assert.equal(await provider.getBalance(carol.address), 1n);
  });
});
