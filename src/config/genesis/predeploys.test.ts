import assert from "node:assert/strict";
import { test } from "node:test";
import { hexToBytes } from "../../primitives/hex.ts";
import { keccak256Hash } from "../../primitives/keccak.ts";
import { CREATE2_DEPLOYER, PREDEPLOYS } from "./predeploys.ts";

/** EXTCODEHASH at these addresses on Ethereum mainnet. */
const MAINNET_CODE_HASHES: Readonly<Record<string, string>> = {
  "0xca11bde05977b3631167028862be2a173976ca11": "0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891",
  "0x000000000022d473030f116ddee9f6b43ac78ba3": "0xc67d1657868aa5146eaf24fb879fb1fdec3d2d493b3683a61c9c2f4fb2851131",
  "0x914d7fec6aac8cd542e72bca78b30650d45643d7": "0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989",
  "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789": "0xc93c806e738300b5357ecdc2e971d6438d34d8e4e17b99b758b1f9cac91c8e70",
  "0x7fc98430eaedbb6070b35b39d798725049088348": "0xae818091eaaf1b6175ee41472359a689f3823d0908a41e2e5c4ad508f2fc04a3",
};

test("every predeploy has the code that is at its address on mainnet", () => {
  const hashes = PREDEPLOYS.flatMap(({ accounts }) =>
    accounts.map(({ address, code }) => [address, keccak256Hash(hexToBytes(code(1n)))]),
  );
  assert.deepEqual(Object.fromEntries(hashes), MAINNET_CODE_HASHES);
  assert.equal(
    keccak256Hash(hexToBytes(CREATE2_DEPLOYER.code)),
    MAINNET_CODE_HASHES["0x914d7fec6aac8cd542e72bca78b30650d45643d7"],
  );
});
