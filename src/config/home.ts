import { statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { Config } from "./config.ts";
import { InvalidConfigError } from "./errors.ts";

/**
 * Folder of everything that belongs to one chain: what was asked for, else `~/.evmint`, and `~/.evmint/dev` for the dev chain.
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
  throw new InvalidConfigError(`--home: ${home} is a file; name the folder of the chain`, { home });
}

export function appTomlPath(home: string): string {
  return join(home, "config", "app.toml");
}

/** A geth genesis; its absence means that `init` was never run here. */
export function genesisPath(home: string): string {
  return join(home, "config", "genesis.json");
}

/** Genesis of the dev chain, written by its first start. */
export function devGenesisPath(home: string): string {
  return join(home, "config", "dev-genesis.json");
}

/** Secret of the bearer tokens for private methods. */
export function jwtSecretPath(home: string): string {
  return join(home, "config", "jwt.hex");
}

/** Private key the node is known by among Ethereum nodes. */
export function nodeKeyPath(home: string): string {
  return join(home, "config", "node-key.hex");
}

export function keystorePath(home: string): string {
  return join(home, "keystore");
}

/** HD wallets, encrypted. */
export function walletsPath(home: string): string {
  return join(home, "hdwallets");
}

/** A dev chain that ends with its process; `dataPath` has nothing of it. */
export function isInMemory({ dev, devChain }: Pick<Config, "dev" | "devChain">): boolean {
  return dev && devChain.inMemory;
}

/** Block log and index. */
export function dataPath(home: string): string {
  return join(home, "data");
}

/** What can be made again: safe to delete while no node runs. */
export function cachePath(home: string): string {
  return join(home, "cache");
}

/** Says that a jump of the clock stopped block production. */
export function clockStopPath(home: string): string {
  return join(home, "data", "clock-stopped");
}

/** What callers of a dev chain did besides sending transactions. */
export function devJournalPath(home: string): string {
  return join(home, "data", "dev");
}

/** The block of another chain that a dev chain continues; null in it: none, whatever the settings say. */
export function forkPointPath(home: string): string {
  return join(home, "config", "fork.json");
}

/** What `fork.json` becomes when the chain in `dataPath` has been removed. */
export function pendingResetPath(home: string): string {
  return join(home, "config", "reset.json");
}

/** What was read of forked chains: a file for each block and manner of reading. */
export function forkCacheDirectory(home: string): string {
  return join(home, "cache", "fork");
}

/** Journal of the transaction pool. */
export function poolPath(home: string): string {
  return join(home, "data", "pool");
}

/** Transactions that crashed the executor. */
export function quarantinePath(home: string): string {
  return join(home, "data", "quarantine");
}

/** The votes about validators that this node casts. */
export function cliqueProposalsPath(home: string): string {
  return join(home, "clique-proposals.json");
}

/** Snapshots of the state for other nodes. */
export function snapshotsPath(home: string): string {
  return join(home, "data", "snapshots");
}

/** Private keys of whisper identities and groups, encrypted with the node key. */
export function whisperIdentitiesPath(home: string): string {
  return join(home, "shh", "identities");
}

/** CometBFT's own home: keys, signing state, blocks of consensus. */
export function cometbftPath(home: string): string {
  return join(home, "cometbft");
}

/** Files of blocks that were removed because CometBFT's store ends before them; `evmintd import` reads them. */
export function setAsidePath(home: string): string {
  return join(home, "set-aside");
}

/** Socket on which the application waits for CometBFT. */
export function abciSocketPath(home: string): string {
  return join(home, "abci.sock");
}
