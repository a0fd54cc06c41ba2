import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Config } from "./config.ts";
import { InvalidConfigError } from "./errors.ts";

/** Of a file that an operator writes or copies: settings, certificates, lists of accounts, secrets. A list of 200,000 accounts has 10 MB. */
export const CONFIG_FILE_BYTES_MAX = 16 << 20;

/**
 * Folder of everything that belongs to one chain: what was requested, else `~/.evmint`, and `~/.evmint/dev` for the dev chain.
 * The dev chain has a home of its own because its keys are public: a block of it must never land in, nor a real key be
 * served by, the chain somebody set up with `init`.
 */
export function resolveHome(asked: string | undefined, dev: boolean): string {
  if (asked !== undefined && asked !== "") return resolve(asked);
  const home = join(homedir(), ".evmint");
  return dev ? join(home, "dev") : home;
}

/** @throws InvalidConfigError when there is a file in place of the folder */
export function assertHomeFolder(home: string): void {
  if (statSync(home, { throwIfNoEntry: false })?.isDirectory() !== false) return;
  throw new InvalidConfigError(`--home: ${home} is a file; give a folder`, { home });
}

/** A dev chain that ends with its process; `dataPath` has nothing of it. */
export function isInMemory({ dev, devChain }: Pick<Config, "dev" | "devChain">): boolean {
  return dev && devChain.inMemory;
}

/** Where something of a home is, by the home. */
function inHome(...names: readonly string[]): (home: string) => string {
  return (home) => join(home, ...names);
}

export const appTomlPath = inHome("config", "app.toml");
/** A geth genesis; its absence means that `init` was never run here. */
export const genesisPath = inHome("config", "genesis.json");
/** Genesis of the dev chain, written by its first start. */
export const devGenesisPath = inHome("config", "dev-genesis.json");
/** What the accounts of a dev chain are derived from, where that is not the public phrase. */
export const devWalletPath = inHome("config", "dev-wallet.json");
/** Secret of the bearer tokens for private methods. */
export const jwtSecretPath = inHome("config", "jwt.hex");
/** Revoked tokens, and the secret before `jwt.hex`. */
export const tokensPath = inHome("config", "tokens.json");
/** Private key the node is known by among Ethereum nodes. */
export const nodeKeyPath = inHome("config", "node-key.hex");
export const keystorePath = inHome("keystore");
/** HD wallets, encrypted. */
export const walletsPath = inHome("hdwallets");
/** Block log and index. */
export const dataPath = inHome("data");
/** What can be made again: safe to delete while no node runs. */
export const cachePath = inHome("cache");
/** Says that a jump of the clock stopped block production. */
export const clockStopPath = inHome("data", "clock-stopped");
/** What callers of a dev chain did besides sending transactions. */
export const devJournalPath = inHome("data", "dev");
/** The block of another chain that a dev chain continues; null in it: none, whatever the settings say. */
export const forkPointPath = inHome("config", "fork.json");
/** What `fork.json` becomes when the chain in `dataPath` has been removed. */
export const pendingResetPath = inHome("config", "reset.json");
/** Which first blocks of the chain came from a dump. */
export const loadedStatePath = inHome("config", "loaded-state.json");
/** A dump that the chain in `dataPath` is to be made of. */
export const pendingStatePath = inHome("config", "loading-state");
/** What was read of forked chains: a file for each block and manner of reading. */
export const forkCacheDirectory = inHome("cache", "fork");
/** Journal of the transaction pool. */
export const poolPath = inHome("data", "pool");
/** Transactions that crashed the executor. */
export const quarantinePath = inHome("data", "quarantine");
/** The votes about validators that this node casts. */
export const cliqueProposalsPath = inHome("clique-proposals.json");
/** Votes about rules that this node casts. */
export const parameterProposalsPath = inHome("parameter-proposals.json");
/** Snapshots of the state for other nodes. */
export const snapshotsPath = inHome("data", "snapshots");
/** Private keys of whisper identities and groups, encrypted with the node key. */
export const whisperIdentitiesPath = inHome("shh", "identities");
/** Sources of contracts that this node has verified. */
export const verifiedContractsPath = inHome("contracts");
/** CometBFT's own home: keys, signing state, blocks of consensus. */
export const cometbftPath = inHome("cometbft");
/** What the operator adds to CometBFT's configuration. */
export const engineAdditionsPath = inHome("config", "cometbft.toml");
/** Files of blocks that were removed because CometBFT's store ends before them; `evmintd import` reads them. */
export const setAsidePath = inHome("set-aside");
/** Socket on which the application waits for CometBFT. */
export const abciSocketPath = inHome("abci.sock");
