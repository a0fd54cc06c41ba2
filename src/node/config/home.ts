import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Config } from "./config.ts";
import { InvalidConfigError } from "./errors.ts";

/** Maximum size of a file that an operator writes or copies: settings, certificates, account lists, secrets. A list of 200,000 accounts has 10 MB. */
export const CONFIG_FILE_BYTES_MAX = 16 << 20;

/**
 * The folder of one chain: the requested one, else `~/.evmint`, or `~/.evmint/dev` for the dev chain. The dev chain has a separate home because
 * its keys are public: a chain set up with `init` must never receive its blocks, nor may it serve real keys.
 */
export function resolveHome(asked: string | undefined, dev: boolean): string {
  if (asked !== undefined && asked !== "") return resolve(asked);
  const home = join(homedir(), ".evmint");
  return dev ? join(home, "dev") : home;
}

/** @throws InvalidConfigError if a file has the folder's name */
export function assertHomeFolder(home: string): void {
  if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  throw new InvalidConfigError(`--home: ${home} is a file; give a folder`, { home });
}

/** A dev chain that ends with its process and stores nothing in `dataPath`. */
export function isInMemory({ dev, devChain }: Pick<Config, "dev" | "devChain">): boolean {
  return dev && devChain.inMemory;
}

/** Makes a function from a home to a path in it. */
function inHome(...names: readonly string[]): (home: string) => string {
  return (home) => join(home, ...names);
}

export const appTomlPath = inHome("config", "app.toml");
/** A geth genesis; if it is missing, `init` has not run here. */
export const genesisPath = inHome("config", "genesis.json");
/** Genesis of the dev chain, written by its first start. */
export const devGenesisPath = inHome("config", "dev-genesis.json");
/** Mnemonic and path of a dev chain's accounts, unless they are the public ones. */
export const devWalletPath = inHome("config", "dev-wallet.json");
/** Secret for the bearer tokens of private methods. */
export const jwtSecretPath = inHome("config", "jwt.hex");
/** Revoked tokens, and the previous secret. */
export const tokensPath = inHome("config", "tokens.json");
/** Private key of the node's Ethereum identity. */
export const nodeKeyPath = inHome("config", "node-key.hex");
export const keystorePath = inHome("keystore");
/** HD wallets, encrypted. */
export const walletsPath = inHome("hdwallets");
/** Block log and index. */
export const dataPath = inHome("data");
/** Derived data: safe to delete while no node runs. */
export const cachePath = inHome("cache");
/** Marks that a clock jump stopped block production. */
export const clockStopPath = inHome("data", "clock-stopped");
/** Journal of callers' changes to a dev chain besides transactions. */
export const devJournalPath = inHome("data", "dev");
/** The forked block that a dev chain continues; null in the file: none, whatever the settings say. */
export const forkPointPath = inHome("config", "fork.json");
/** The next `fork.json`, once the chain in `dataPath` has been removed. */
export const pendingResetPath = inHome("config", "reset.json");
/** Which first blocks of the chain a dump provided. */
export const loadedStatePath = inHome("config", "loaded-state.json");
/** A dump from which to build the chain in `dataPath`. */
export const pendingStatePath = inHome("config", "loading-state");
/** Cached reads of forked chains: one file per block and manner of reading. */
export const forkCacheDirectory = inHome("cache", "fork");
/** Journal of the transaction pool. */
export const poolPath = inHome("data", "pool");
/** Transactions that crashed the executor. */
export const quarantinePath = inHome("data", "quarantine");
/** This node's votes about validators. */
export const cliqueProposalsPath = inHome("clique-proposals.json");
/** This node's votes about rules. */
export const parameterProposalsPath = inHome("parameter-proposals.json");
/** State snapshots for other nodes. */
export const snapshotsPath = inHome("data", "snapshots");
/** Private keys of whisper identities and groups, encrypted with the node key. */
export const whisperIdentitiesPath = inHome("shh", "identities");
/** Sources of contracts that this node verified. */
export const verifiedContractsPath = inHome("contracts");
/** CometBFT's own home: keys, signing state, blocks of consensus. */
export const cometbftPath = inHome("cometbft");
/** The operator's additions to CometBFT's configuration. */
export const engineAdditionsPath = inHome("config", "cometbft.toml");
/** Files of blocks that were removed because CometBFT's store ends before them; `evmintd import` reads them. */
export const setAsidePath = inHome("set-aside");
/** Socket on which the application listens for CometBFT. */
export const abciSocketPath = inHome("abci.sock");
