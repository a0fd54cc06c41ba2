// npx vitest run examples/vitest.test.mjs
import { createNode } from "evmint";
import { createTestClient, custom, parseEther, publicActions, walletActions } from "viem";
import { foundry } from "viem/chains";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

let node;
let client;
let snapshot;
beforeAll(async () => {
  node = await createNode();
  client = createTestClient({ mode: "anvil", chain: foundry, transport: custom(node.provider) })
    .extend(publicActions)
    .extend(walletActions);
  snapshot = await client.snapshot();
});
beforeEach(async () => {
  await client.revert({ id: snapshot });
  snapshot = await client.snapshot();
});
afterAll(() => node.stop());

test("anyone's ether can be spent", async () => {
  const whale = "0x00000000000000000000000000000000000beef1";
  await client.setBalance({ address: whale, value: parseEther("10") });
  await client.impersonateAccount({ address: whale });
  const to = node.accounts[0].address;
  const before = await client.getBalance({ address: to });
  await client.sendTransaction({ account: whale, to, value: 7n });
  expect(await client.getBalance({ address: to })).toBe(before + 7n);
});

test("a year passes", async () => {
  const { timestamp } = await client.getBlock();
  await client.increaseTime({ seconds: 31_536_000 });
  await client.mine({ blocks: 1 });
  expect((await client.getBlock()).timestamp).toBeGreaterThanOrEqual(timestamp + 31_536_000n);
});
