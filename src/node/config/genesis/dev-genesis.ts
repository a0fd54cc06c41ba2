import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { type Genesis, parseGenesis } from "../../../base/params/genesis.ts";
import { TIME_FORK_FIELDS } from "../../../base/params/hardforks.ts";
import { makeFolder } from "../../../store/storage/make-folder.ts";
import { createFile } from "../../../store/storage/replace-file.ts";
import { DEV_BALANCE, DEV_CHAIN_ID, DEV_WALLET, type DevAccount, devAccounts } from "../../keystore/dev-accounts.ts";
import type { Config } from "../config.ts";
import { DEFAULTS } from "../defaults.ts";
import { forksAtGenesis } from "../dev-rules.ts";
import { InvalidConfigError, invalidSetting } from "../errors.ts";
import { devGenesisPath } from "../home.ts";
import { PREDEPLOYS, type Predeploy } from "../predeploys.ts";
import { openDevWallet } from "./dev-wallet.ts";
import { renderGenesis } from "./genesis.ts";
import { readGenesisText } from "./genesis-file.ts";

type DevConfig = Pick<Config, "dev" | "home" | "devChain">;

/** Settings of the built-in genesis; a genesis file contains its own. */
const BUILT_IN = {
  chainId: "chain-id",
  accounts: "accounts",
  predeploys: "predeploys",
  timestamp: "timestamp",
  balance: "balance",
  hardfork: "hardfork",
  baseFeeWei: "base-fee",
  codeSizeLimit: "code-size-limit",
} as const satisfies Partial<Record<keyof Config["devChain"], string>>;

/**
 * Genesis of the home's dev chain. The first start writes it to `config/dev-genesis.json` from the settings; from then on the file decides, and
 * settings that contradict it are errors. A chain in memory has no file: the settings decide.
 * @param storedTimestamp time of block 0 if the chain exists, Unix seconds
 * @throws InvalidConfigError, InvalidGenesisError
 */
export function openDevGenesis(config: DevConfig, storedTimestamp: number | undefined): Genesis {
  if (config.devChain.inMemory) return parseGenesis(devGenesisText(config));
  const path = devGenesisPath(config.home);
  if (!existsSync(path) && storedTimestamp !== undefined) {
    const legacy = legacyGenesisText(storedTimestamp);
    assertSameGenesis(config, legacy);
    return parseGenesis(legacy);
  }
  const isNew = !existsSync(path);
  const text = isNew ? devGenesisText(config) : readGenesisText(path);
  const genesis = parseGenesis(text);
  if (isNew) {
    makeFolder(dirname(path));
    createFile(path, text, 0o644);
  } else {
    assertSameGenesis(config, text);
  }
  return genesis;
}

/** The first accounts of `wallet` that `genesis` funds: a dev node unlocks them. */
export function fundedDevAccounts({ alloc }: Genesis, wallet = DEV_WALLET): readonly DevAccount[] {
  // Derivation dominates the start, so no more accounts are derived than the genesis can hold.
  const count = [...alloc.values()].filter(({ code }) => !code?.length).length;
  const accounts = devAccounts(Math.min(count, DEFAULTS.devAccountsMax), wallet);
  const end = accounts.findIndex(({ address }) => !alloc.get(address)?.balance);
  return end === -1 ? accounts : accounts.slice(0, end);
}

/** @throws InvalidConfigError */
function devGenesisText(config: DevConfig): string {
  const { devChain } = config;
  const { chainId, accounts, genesis, predeploys, timestamp, hardfork, gasLimit, baseFeeWei } = devChain;
  const { codeSizeLimit, hasTxGasLimit, hasCreate2Deployer } = devChain;
  if (genesis !== null) {
    const [given] = Object.entries(BUILT_IN).filter(([name]) => devChain[name as keyof typeof BUILT_IN] !== null);
    if (given !== undefined) {
      throw new InvalidConfigError(
        `--genesis sets chain id, accounts, contracts, rules, fees and time: omit ${given[1]}`,
        { key: "genesis" },
      );
    }
    return readGenesisFile(genesis);
  }
  const funded = devAccounts(accounts ?? DEFAULTS.devAccounts, openDevWallet(config));
  const balance = devChain.balance ?? DEV_BALANCE;
  return renderGenesis({
    chainId: chainId === null ? DEV_CHAIN_ID : BigInt(chainId),
    timestamp: timestamp ?? Math.floor(Date.now() / 1_000),
    alloc: new Map(funded.map(({ address }) => [address, balance])),
    predeploys: predeploysOf(predeploys),
    ...(hardfork !== null && { hardfork }),
    ...(codeSizeLimit !== null && { codeSizeMax: codeSizeLimit }),
    noTxGasLimit: !hasTxGasLimit,
    noCreate2Deployer: !hasCreate2Deployer,
    ...(gasLimit !== null && { gasLimit }),
    ...(baseFeeWei !== null && { baseFeePerGas: baseFeeWei }),
  });
}

/** @throws InvalidConfigError */
function predeploysOf(names: readonly string[] | null): readonly Predeploy[] {
  if (names === null || names.includes("all")) return PREDEPLOYS;
  if (names.length === 1 && names[0] === "none") return [];
  return names.map((name) => {
    const found = PREDEPLOYS.find((predeploy) => predeploy.name === name);
    if (found !== undefined) return found;
    const known = ["all", "none", ...PREDEPLOYS.map((predeploy) => predeploy.name)].join(", ");
    throw new InvalidConfigError(`--predeploys: unknown contract ${name}; known: ${known}`, {
      key: "predeploys",
    });
  });
}

/** Genesis of dev chains created before they had a file: ten accounts, no predeploys, the time of the first start. */
function legacyGenesisText(timestamp: number): string {
  const funded = devAccounts(DEFAULTS.devAccounts);
  return renderGenesis({
    chainId: DEV_CHAIN_ID,
    timestamp,
    alloc: new Map(funded.map(({ address }) => [address, DEV_BALANCE])),
  });
}

/** Explicit settings must describe the existing chain. @throws InvalidConfigError */
function assertSameGenesis(config: DevConfig, text: string): void {
  const { chainId, accounts, genesis, predeploys, timestamp, balance, hardfork, baseFeeWei, codeSizeLimit } =
    config.devChain;
  const stored = parseGenesis(text);
  const funded = fundedDevAccounts(stored, openDevWallet(config));
  const fail = (key: string, has: string) =>
    invalidSetting(
      key,
      `the dev chain in ${config.home} has ${has}; omit the setting to resume that chain, or choose another --home`,
    );
  if (chainId !== null && BigInt(chainId) !== stored.config.chainId) {
    throw fail("chain-id", `chain id ${stored.config.chainId}`);
  }
  if (accounts !== null && funded.length !== accounts) {
    throw fail("accounts", `${funded.length} accounts`);
  }
  if (balance !== null && funded.some(({ address }) => stored.alloc.get(address)?.balance !== balance)) {
    throw fail("balance", "other balances");
  }
  if (hardfork !== null && !hasSameForks(stored.config, forksAtGenesis(stored.config.chainId, hardfork))) {
    throw fail("hardfork", "other forks");
  }
  if (codeSizeLimit !== null && stored.config.codeSizeMax !== codeSizeLimit) {
    throw fail("code-size-limit", "another limit");
  }
  if (baseFeeWei !== null && stored.baseFeePerGas !== baseFeeWei) {
    throw fail("base-fee", `a base fee of ${stored.baseFeePerGas ?? 0n} wei in block 0`);
  }
  if (genesis !== null && readGenesisFile(genesis) !== text) {
    throw fail("genesis", "another genesis");
  }
  if (timestamp !== null && stored.timestamp !== timestamp) {
    throw fail("timestamp", `block 0 at ${stored.timestamp}`);
  }
  if (predeploys !== null) {
    const wanted = predeploysOf(predeploys);
    const differs = PREDEPLOYS.find(
      (predeploy) => stored.alloc.has(predeploy.accounts[0]!.address) !== wanted.includes(predeploy),
    );
    if (differs !== undefined) throw fail("predeploys", "other contracts");
  }
}

/** True if the same forks begin at the same times. */
function hasSameForks(a: ChainConfig, b: ChainConfig): boolean {
  return TIME_FORK_FIELDS.every((field) => a[field] === b[field]);
}

/** @throws InvalidConfigError */
function readGenesisFile(path: string): string {
  try {
    return readGenesisText(path);
  } catch (cause) {
    throw new InvalidConfigError(
      `--genesis: cannot read ${path}: ${(cause as Error).message}`,
      { key: "genesis" },
      { cause },
    );
  }
}
