import assert from "node:assert/strict";
import { test } from "node:test";
import { hexToBytes } from "../../base/primitives/hex.ts";
import { keccak256Hash } from "../../base/primitives/keccak.ts";
import { CREATE2_DEPLOYER, PREDEPLOYS } from "./predeploys.ts";

/** EXTCODEHASH at these addresses on Ethereum mainnet. */
const MAINNET_CODE_HASHES: Readonly<Record<string, string>> = {
  "0xca11bde05977b3631167028862be2a173976ca11": "0xd5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891",
  "0x000000000022d473030f116ddee9f6b43ac78ba3": "0xc67d1657868aa5146eaf24fb879fb1fdec3d2d493b3683a61c9c2f4fb2851131",
  "0x914d7fec6aac8cd542e72bca78b30650d45643d7": "0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989",
  "0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789": "0xc93c806e738300b5357ecdc2e971d6438d34d8e4e17b99b758b1f9cac91c8e70",
  "0x7fc98430eaedbb6070b35b39d798725049088348": "0xae818091eaaf1b6175ee41472359a689f3823d0908a41e2e5c4ad508f2fc04a3",
  "0x0000000071727de22e5e9d8baf0edac6f37da032": "0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58",
  "0xefc2c1444ebcc4db75e7613d20c6a62ff67a167c": "0x283c9d14378f5f4c4e24045b87d621d48443fa5b4af7dd7180a599b3756a7689",
  "0x4337084d9e255ff0702461cf8895ce9e3b5ff108": "0x44e632a24c6f2600cbd5b5b8b4c2d372359112c8b5774297f5fd0a9e64f11f86",
  "0x449ed7c3e6fee6a97311d4b55475df59c44add33": "0xc69a1b3a000d570bc86eb096ee63a9014a17951ad616d720882ec61432b00fcf",
  "0xba5ed099633d3b313e4d5f7bdc1305d3c28ba5ed": "0xbd8a7ea8cfca7b4e5f5041d7d4b17bc317c5ce42cfbc42066a00cf26b43eb53f",
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

test("EntryPoint v0.8 has the code that its constructor leaves on this chain", () => {
  const { accounts } = PREDEPLOYS.find(({ name }) => name === "entrypoint-v0.8")!;
  assert.equal(
    keccak256Hash(hexToBytes(accounts[0]!.code(31_337n))),
    // Of its creation code, run on a chain of this id.
    "0x0a58ad57e3f8266dcc99cda79b0d3d784a4cedc4e972f33a8a2c5cecbb9e67b4",
  );
});
