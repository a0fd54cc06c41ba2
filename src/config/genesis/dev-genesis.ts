import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { DEV_BALANCE, DEV_CHAIN_ID, type DevAccount, devAccounts } from "../../keystore/dev-accounts.ts";
import { type Genesis, parseGenesis } from "../../params/genesis.ts";
import { makeFolder } from "../../storage/make-folder.ts";
import { createFile } from "../../storage/replace-file.ts";
import type { Config } from "../config.ts";
import { DEFAULTS } from "../defaults.ts";
import { InvalidConfigError } from "../errors.ts";
import { devGenesisPath } from "../home.ts";
import { renderGenesis } from "./genesis.ts";
import { PREDEPLOYS, type Predeploy } from "./predeploys.ts";

type DevConfig = Pick<Config, "home" | "devChain">;

/**
 * Genesis of the dev chain in the home: that of `config/dev-genesis.json`, which the first start writes from the settings. From then on
 * the file decides, and settings that contradict it are errors. A chain in memory has no file: the settings decide.
 * @param storedTimestamp time of block 0 if there is a chain already, Unix seconds
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
  const text = isNew ? devGenesisText(config) : readFileSync(path, "utf8");
  const genesis = parseGenesis(text);
  if (isNew) {
    makeFolder(dirname(path));
    createFile(path, text, 0o644);
  } else {
    assertSameGenesis(config, text);
  }
  return genesis;
}

/** The accounts of the public phrase that `genesis` funds, from the first on: those a dev node unlocks. */
export function fundedDevAccounts({ alloc }: Genesis): readonly DevAccount[] {
  // Deriving takes longer than the rest of a start: no more are derived than the genesis can hold.
  const count = [...alloc.values()].filter(({ code }) => !code?.length).length;
  const accounts = devAccounts(Math.min(count, DEFAULTS.devAccountsMax));
  const end = accounts.findIndex(({ address }) => !alloc.get(address)?.balance);
  return end === -1 ? accounts : accounts.slice(0, end);
}

/** @throws InvalidConfigError */
function devGenesisText({ devChain }: DevConfig): string {
  const { chainId, accounts, genesis, predeploys, timestamp } = devChain;
  if (genesis !== null) {
    if (chainId !== null || accounts !== null || predeploys !== null || timestamp !== null) {
      throw new InvalidConfigError(
        "dev.genesis has its own chain id, accounts, contracts and time: leave out dev.chain-id, dev.accounts, dev.predeploys and dev.timestamp",
        { key: "dev.genesis" },
      );
    }
    return readGenesisFile(genesis);
  }
  const funded = devAccounts(accounts ?? DEFAULTS.devAccounts);
  return renderGenesis({
    chainId: chainId === null ? DEV_CHAIN_ID : BigInt(chainId),
    timestamp: timestamp ?? Math.floor(Date.now() / 1_000),
    alloc: new Map(funded.map(({ address }) => [address, DEV_BALANCE])),
    predeploys: predeploysOf(predeploys),
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
    throw new InvalidConfigError(`dev.predeploys: no contract ${name}; there are ${known}`, {
      key: "dev.predeploys",
    });
  });
}

/** The genesis of dev chains made before they had a file: ten accounts, no predeploys, the time of the first start. */
function legacyGenesisText(timestamp: number): string {
  const funded = devAccounts(DEFAULTS.devAccounts);
  return renderGenesis({
    chainId: DEV_CHAIN_ID,
    timestamp,
    alloc: new Map(funded.map(({ address }) => [address, DEV_BALANCE])),
  });
}

/** Settings that were given have to describe the chain that is there. @throws InvalidConfigError */
function assertSameGenesis(config: DevConfig, text: string): void {
  const { chainId, accounts, genesis, predeploys, timestamp } = config.devChain;
  const stored = parseGenesis(text);
  const fail = (key: string, has: string) =>
    new InvalidConfigError(
      `${key}: the dev chain in ${config.home} has ${has}; leave the setting out to go on with that chain, or choose another --home`,
      { key },
    );
  if (chainId !== null && BigInt(chainId) !== stored.config.chainId) {
    throw fail("dev.chain-id", `chain id ${stored.config.chainId}`);
  }
  if (accounts !== null && fundedDevAccounts(stored).length !== accounts) {
    throw fail("dev.accounts", `${fundedDevAccounts(stored).length} accounts`);
  }
  if (genesis !== null && readGenesisFile(genesis) !== text) {
    throw fail("dev.genesis", "another genesis");
  }
  if (timestamp !== null && stored.timestamp !== timestamp) {
    throw fail("dev.timestamp", `block 0 at ${stored.timestamp}`);
  }
  if (predeploys !== null) {
    const wanted = predeploysOf(predeploys);
    const differs = PREDEPLOYS.find(
      (predeploy) => stored.alloc.has(predeploy.accounts[0]!.address) !== wanted.includes(predeploy),
    );
    if (differs !== undefined) throw fail("dev.predeploys", "other contracts");
  }
}

/** @throws InvalidConfigError */
function readGenesisFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new InvalidConfigError(`dev.genesis: cannot read ${path}`, { key: "dev.genesis" }, { cause });
  }
}
