import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { contractsToDeploy, type Genesis, parseGenesis } from "../../base/params/genesis.ts";
import { timeFieldOf } from "../../base/params/hardforks.ts";
import { type Address, checksumAddress, parseAddress } from "../../base/primitives/address.ts";
import { createEngineGenesis, createEngineKeys } from "../../consensus/cometbft/home/home.ts";
import { editAppToml, renderAppToml } from "../../node/config/app-toml.ts";
import { NEWEST_HARDFORK } from "../../node/config/dev-rules.ts";
import { DEFAULT_CHAIN_ID, renderGenesis } from "../../node/config/genesis/genesis.ts";
import { readGenesisText } from "../../node/config/genesis/genesis-file.ts";
import { appTomlPath, cometbftPath, dataPath, genesisPath, keystorePath } from "../../node/config/home.ts";
import { createJwtSecret } from "../../node/config/secrets.ts";
import { makeFolder } from "../../store/storage/make-folder.ts";
import type { CliContext } from "../context.ts";
import { CommandError, UsageError } from "../errors.ts";
import { type NetworkFile, readNetworkFile } from "./network-file.ts";

export type InitOptions = {
  readonly home: string;
  /** A geth genesis file; without it the chain gets the built-in one. */
  readonly genesis?: string;
  readonly chainId?: string;
  /** Accounts that own something in block 0 of the built-in genesis. */
  readonly fund?: readonly string[];
  /** No base fee and a least tip of 0, in the built-in genesis. */
  readonly freeGas?: boolean;
  /** Validators that sign two different blocks are voted out, by the built-in genesis. */
  readonly jail?: boolean;
  /** Owner of the contract that says who may send and create contracts, in the built-in genesis. */
  readonly accountPermissions?: string;
  /** A file of `evmintd engine invite`: the home is that of a follower of this network. */
  readonly join?: string;
};

/** Enough to deploy and try anything, for accounts named with --fund: a million ether in wei. */
const FUNDED_BALANCE = 10n ** 24n;

/** Makes a home: settings, genesis, token secret, key store folder. Never touches one that is there. */
export function init(options: InitOptions, context: CliContext): void {
  const { home } = options;
  if (existsSync(genesisPath(home)) || existsSync(dataPath(home))) {
    throw new CommandError(`${home} already has a chain; nothing was changed`);
  }
  const network = options.join === undefined ? undefined : networkToJoin(options.join, options);
  const text = network?.genesis ?? genesisText(options, context);
  const genesis = parseGenesis(text);
  const laterContracts = contractsToDeploy(genesis);
  makeHome(home, text);
  if (network !== undefined) joinNetwork(home, network);
  context.stdout.write(summaryOf(home, genesis));
  for (const { eip, address, since } of laterContracts) {
    context.stderr.write(
      `warning: alloc has no code at ${checksumAddress(address)} (${eip}): deploy it before config.${timeFieldOf(since)}, or the chain halts at that fork\n`,
    );
  }
}

/** @throws UsageError, CommandError */
function networkToJoin(file: string, options: InitOptions): NetworkFile {
  if (options.genesis !== undefined || shapesGenesis(options)) {
    throw new UsageError(`--join brings its own genesis: omit --genesis, ${GENESIS_FLAGS}`);
  }
  return readNetworkFile(file);
}

function joinNetwork(home: string, network: NetworkFile): void {
  const { engineGenesis, blockTimeMs, localNet, allowedNodesContract, peers } = network;
  const directory = cometbftPath(home);
  createEngineKeys(directory);
  createEngineGenesis(directory, engineGenesis);
  const settings: readonly (readonly [key: string, value: unknown])[] = [
    ["consensus.engine", "cometbft"],
    ["consensus.block-time", { intervalMs: blockTimeMs }],
    ["cometbft.persistent-peers", peers],
    ["cometbft.local-net", localNet],
    ["cometbft.allowed-nodes-contract", allowedNodesContract],
  ];
  for (const [key, value] of settings) editAppToml(home, key, value);
}

/** Settings, token secret, key store folder and genesis; files that are there stay. */
export function makeHome(home: string, genesis: string): void {
  makeFolder(home);
  for (const folder of [dirname(appTomlPath(home)), keystorePath(home)]) {
    makeFolder(folder);
    chmodSync(folder, 0o700);
  }
  writeNew(appTomlPath(home), renderAppToml(), 0o644);
  createJwtSecret(home);
  // Last, because its presence is what makes a folder a home.
  writeNew(genesisPath(home), genesis, 0o644);
}

/** Options of the built-in genesis. */
type GenesisOptions = Pick<InitOptions, "chainId" | "fund" | "freeGas" | "jail" | "accountPermissions">;
const GENESIS_FLAGS = "--chain-id, --fund, --free-gas, --jail and --account-permissions";

function shapesGenesis({ chainId, fund, freeGas, jail, accountPermissions }: GenesisOptions): boolean {
  return (
    [chainId, fund, accountPermissions].some((option) => option !== undefined) || freeGas === true || jail === true
  );
}

/** The genesis file that was requested, or the built-in one. @throws UsageError */
export function genesisText(options: GenesisOptions & Pick<InitOptions, "genesis">, { now }: CliContext): string {
  const { genesis, chainId, fund, freeGas = false, jail = false, accountPermissions } = options;
  if (genesis !== undefined) {
    if (shapesGenesis(options)) {
      throw new UsageError(`--genesis sets chain id, accounts and rules: omit ${GENESIS_FLAGS}`);
    }
    return readText(genesis);
  }
  return renderGenesis({
    chainId: chainId === undefined ? DEFAULT_CHAIN_ID : parseChainId(chainId),
    freeGas,
    jail,
    timestamp: Math.floor(now() / 1000),
    alloc: new Map((fund ?? []).map((text) => [parseAccount("--fund", text), FUNDED_BALANCE])),
    // Validators may vote for any fork that this version knows, and none begins without its contracts.
    contractsUpTo: NEWEST_HARDFORK,
    permissionsOwner:
      accountPermissions === undefined ? undefined : parseAccount("--account-permissions", accountPermissions),
  });
}

function parseChainId(text: string): bigint {
  // EIP-2294 bounds chain ids to 2^63 - 37, so that 2·id + 36 fits the v of a signature.
  const value = /^[1-9]\d{0,18}$/.test(text) ? BigInt(text) : 0n;
  if (value === 0n || value > 2n ** 63n - 37n) {
    throw new UsageError(`--chain-id: ${text} is not a decimal number from 1 to 2^63 - 37`);
  }
  return value;
}

function parseAccount(flag: string, text: string): Address {
  try {
    return parseAddress(text);
  } catch (cause) {
    throw new UsageError(`${flag}: ${text} is not an address`, {}, { cause });
  }
}

function readText(file: string): string {
  try {
    return readGenesisText(file);
  } catch (cause) {
    throw new UsageError(`--genesis: cannot read ${file}: ${(cause as Error).message}`, { file }, { cause });
  }
}

/** Leaves a file that is there as it is: somebody put it there before. */
function writeNew(path: string, text: string, mode: number): void {
  if (!existsSync(path)) writeFileSync(path, text, { flag: "wx", mode });
}

/** As a shell reads it back. */
function shellQuoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

function summaryOf(home: string, { config, alloc }: Genesis): string {
  return [
    `home      ${home}`,
    `chain id  ${config.chainId}`,
    `genesis   ${alloc.size} accounts, ${genesisPath(home)}`,
    `settings  ${appTomlPath(home)}`,
    `next      evmintd start --home ${shellQuoted(home)}`,
    "",
  ].join("\n");
}
