import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { allForksAtGenesis } from "../../../base/params/blob-schedule.ts";
import { REQUEST_CONTRACTS } from "../../../base/params/gas.ts";
import { contractsToDeploy, parseGenesis } from "../../../base/params/genesis.ts";
import { parseAddress } from "../../../base/primitives/address.ts";
import { DEV_ACCOUNTS, DEV_BALANCE } from "../../keystore/dev-accounts.ts";
import { devGenesisPath } from "../home.ts";
import { loadConfig } from "../load.ts";
import { PREDEPLOYS, SYSTEM_CONTRACTS } from "../predeploys.ts";
import { fundedDevAccounts, openDevGenesis } from "./dev-genesis.ts";
import { renderGenesis } from "./genesis.ts";

const PREDEPLOYED = PREDEPLOYS.flatMap(({ accounts }) => accounts);

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "evmint-dev-genesis-"));
});
afterEach(() => rmSync(home, { recursive: true }));

function open(flags: Record<string, string> = {}, storedTimestamp?: number) {
  const { config } = loadConfig({ home, dev: true, flags, environment: {} });
  return openDevGenesis(config, storedTimestamp);
}

test("a new dev chain funds ten accounts and holds system contracts and predeploys", () => {
  const genesis = open();
  assert.deepEqual(genesis.config, allForksAtGenesis(31337n));
  for (const { address } of DEV_ACCOUNTS) {
    assert.equal(genesis.alloc.get(address)?.balance, DEV_BALANCE);
  }
  for (const { address } of [...SYSTEM_CONTRACTS, ...PREDEPLOYED]) {
    assert.ok(genesis.alloc.get(parseAddress(address))!.code!.length > 60, address);
  }
  assert.deepEqual(fundedDevAccounts(genesis), DEV_ACCOUNTS);
});

test("a dev chain with the rules of Amsterdam holds its contracts, and one with those of Osaka has the block 0 of before", () => {
  const genesis = open({ hardfork: "amsterdam" });
  assert.equal(genesis.config.amsterdamTime, 0);
  assert.deepEqual(contractsToDeploy(genesis), []);
  const builders = REQUEST_CONTRACTS.filter(({ since }) => since === "amsterdam");
  assert.equal(builders.length, 2);
  for (const { address } of builders) {
    assert.equal(genesis.alloc.get(address)?.nonce, 1n);
    assert.throws(
      () => contractsToDeploy({ ...genesis, alloc: new Map([...genesis.alloc].filter(([at]) => at !== address)) }),
      { code: "INVALID_GENESIS", message: /config\.amsterdamTime/ },
    );
  }
  rmSync(devGenesisPath(home));
  const osaka = open();
  assert.equal(osaka.config.amsterdamTime, undefined);
  assert.ok(builders.every(({ address }) => !osaka.alloc.has(address)));
});

test("two dev chains with the same date and settings have the same genesis file, and the file decides from then on", () => {
  open({ timestamp: "2026-01-31" });
  const text = readFileSync(devGenesisPath(home), "utf8");
  rmSync(devGenesisPath(home));
  assert.equal(open({ timestamp: "1769817600" }).timestamp, 1_769_817_600);
  assert.equal(readFileSync(devGenesisPath(home), "utf8"), text);
  writeFileSync(devGenesisPath(home), text.replace('"chainId": 31337', '"chainId": 5'));
  assert.equal(open().config.chainId, 5n);
});

test("block 0 of a new dev chain has the time of its first start, which stays", (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_800_000_000_999 });
  const { timestamp } = open();
  assert.equal(timestamp, 1_800_000_000);
  const path = devGenesisPath(home);
  const text = readFileSync(path, "utf8");
  const earlier = parseGenesis(text).timestamp - 1_000;
  writeFileSync(path, text.replace(`0x${timestamp.toString(16)}`, `0x${earlier.toString(16)}`));
  assert.equal(open().timestamp, earlier);
});

test("chain id, accounts and predeploys of a new dev chain are settings", () => {
  const genesis = open({ "chain-id": "1337", accounts: "12", predeploys: "multicall3" });
  assert.equal(genesis.config.chainId, 1337n);
  assert.equal(fundedDevAccounts(genesis).length, 12);
  const present = PREDEPLOYED.filter(({ address }) => genesis.alloc.has(address));
  assert.deepEqual(
    present.map(({ address }) => address),
    [parseAddress("0xca11bde05977b3631167028862be2a173976ca11")],
  );
  assert.equal(open({ "chain-id": "1337", accounts: "12" }).config.chainId, 1337n);
});

test("settings that contradict the chain in the home are errors, and an unknown contract is", () => {
  const rejected = (settings: Record<string, string>, key: string) =>
    assert.throws(() => open(settings), { code: "CONFIG_INVALID", details: { key } });
  rejected({ predeploys: "multicall33" }, "predeploys");
  rejected({ genesis: join(home, "nothing.json") }, "genesis");
  assert.ok(!existsSync(devGenesisPath(home)));
  open();
  rejected({ "chain-id": "5" }, "chain-id");
  rejected({ accounts: "11" }, "accounts");
  rejected({ predeploys: "none" }, "predeploys");
  rejected({ timestamp: "2026-01-01" }, "timestamp");
  writeFileSync(join(home, "g.json"), "{}");
  rejected({ genesis: join(home, "g.json") }, "genesis");
});

test("a genesis file is taken as it is, with the dev accounts it funds unlocked", () => {
  const alloc = new Map(DEV_ACCOUNTS.slice(0, 2).map(({ address }) => [address, 5n]));
  const file = join(home, "g.json");
  writeFileSync(file, renderGenesis({ chainId: 77n, timestamp: 9, alloc }));
  const genesis = open({ genesis: file });
  assert.deepEqual([genesis.config.chainId, genesis.timestamp], [77n, 9]);
  assert.deepEqual(fundedDevAccounts(genesis), DEV_ACCOUNTS.slice(0, 2));
  rmSync(devGenesisPath(home));
  assert.throws(() => open({ genesis: file, "chain-id": "5" }), { code: "CONFIG_INVALID" });
});

test("a dev chain from before the file goes on with its own genesis and gets no file", () => {
  const genesis = open({}, 1234);
  assert.equal(genesis.timestamp, 1234);
  assert.ok(PREDEPLOYED.every(({ address }) => !genesis.alloc.has(address)));
  assert.ok(!existsSync(devGenesisPath(home)));
  assert.throws(() => open({ "chain-id": "5" }, 1234), { code: "CONFIG_INVALID" });
});
