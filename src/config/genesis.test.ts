import assert from "node:assert/strict";
import { test } from "node:test";
import { DEV_ACCOUNTS } from "../keystore/dev-accounts.ts";
import { allForksAtGenesis } from "../params/dev-chain.ts";
import { parseGenesis } from "../params/genesis.ts";
import { devGenesis, renderGenesis } from "./genesis.ts";
import { SYSTEM_CONTRACTS } from "./system-contracts.ts";

test("devGenesis funds the ten dev accounts and holds the system contracts", () => {
  const genesis = devGenesis(1234);
  assert.deepEqual(genesis.config, allForksAtGenesis(31337n));
  assert.equal(genesis.timestamp, 1234);
  for (const { address } of DEV_ACCOUNTS) {
    assert.equal(genesis.alloc.get(address)?.balance, 10_000n * 10n ** 18n);
  }
  for (const { address } of SYSTEM_CONTRACTS) {
    const account = genesis.alloc.get(address as (typeof DEV_ACCOUNTS)[0]["address"]);
    assert.ok(account!.code!.length > 80);
  }
});

test("renderGenesis writes a chain id beyond 2^53 exactly", () => {
  const chainId = 2n ** 63n + 1n;
  const text = renderGenesis({ chainId, timestamp: 0, alloc: new Map() });
  assert.equal(parseGenesis(text).config.chainId, chainId);
});
