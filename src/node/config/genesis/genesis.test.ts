import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseGenesis } from "../../../base/params/genesis.ts";
import { type Address, parseAddress, ZERO_ADDRESS } from "../../../base/primitives/address.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import { missingPermission } from "../../../evm/execution/validation/account-permissions.ts";
import { CREATE2_DEPLOYER } from "../predeploys.ts";
import { ALLOWED_ACCOUNTS_ADDRESS, ALLOWED_ACCOUNTS_CODE } from "./allowed-accounts.ts";
import { renderGenesis } from "./genesis.ts";

test("renderGenesis writes a chain id beyond 2^53 exactly", () => {
  const chainId = 2n ** 63n + 1n;
  const text = renderGenesis({ chainId, timestamp: 0, alloc: new Map() });
  assert.equal(parseGenesis(text).config.chainId, chainId);
});

test("renderGenesis with an owner of permissions has the contract, those who may, and no open deployer", () => {
  const [owner, funded, stranger] = ["11", "22", "33"].map((byte) => parseAddress(`0x${byte.repeat(20)}`)) as [
    Address,
    Address,
    Address,
  ];
  const text = renderGenesis({
    chainId: 1n,
    timestamp: 0,
    alloc: new Map([[funded, 1n]]),
    jail: true,
    permissionsOwner: owner,
  });
  const { config, alloc } = parseGenesis(text);
  assert.equal(config.jail, true);
  assert.equal(config.accountPermissions, ALLOWED_ACCOUNTS_ADDRESS);
  const { code, storage } = alloc.get(ALLOWED_ACCOUNTS_ADDRESS)!;
  assert.deepEqual(code, hexToBytes(ALLOWED_ACCOUNTS_CODE));
  assert.equal(alloc.has(parseAddress(CREATE2_DEPLOYER.address)), false);
  const state = { storage: (_: Address, slot: `0x${string}`) => storage?.get(slot as never) ?? 0n };
  const mayDeploy = (sender: Address) => missingPermission({ to: null }, sender, state, config) === undefined;
  assert.deepEqual([owner, funded, stranger, ZERO_ADDRESS].map(mayDeploy), [true, true, false, false]);
});

test("the code of the built-in genesis is that of contracts/AllowedAccounts.json", () => {
  const file = new URL("../../../../contracts/AllowedAccounts.json", import.meta.url);
  assert.equal(JSON.parse(readFileSync(file, "utf8")).runtime, ALLOWED_ACCOUNTS_CODE);
});
