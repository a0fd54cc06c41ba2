import assert from "node:assert/strict";
import { test } from "node:test";
import { network } from "hardhat";

test("Hardhat's helpers and clients use the node", async () => {
  const { viem, networkHelpers } = await network.getOrCreate("evmint");
  const stranger = "0x00000000000000000000000000000000000beef1";
  const client = await viem.getPublicClient();
  const fixture = () => networkHelpers.setBalance(stranger, 5n);
  await networkHelpers.loadFixture(fixture);
  await networkHelpers.setBalance(stranger, 6n);
  await networkHelpers.loadFixture(fixture);
  assert.equal(await client.getBalance({ address: stranger }), 5n);
});
