import { existsSync } from "node:fs";
import { join } from "node:path";
import { BLOB_FORKS, DEFAULT_BLOB_SCHEDULE } from "../../../base/params/blob-schedule.ts";
import type { ChainConfig } from "../../../base/params/chain-config.ts";
import { type Genesis, parseGenesis } from "../../../base/params/genesis.ts";
import { hardforkAt } from "../../../base/params/hardforks.ts";
import { parseAddress } from "../../../base/primitives/address.ts";
import { EMPTY_BYTES } from "../../../base/primitives/bytes.ts";
import { hexToBytes } from "../../../base/primitives/hex.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import type { BlockRecord } from "../../../chain/block-store.ts";
import type { RemoteChain } from "../../../chain/reader.ts";
import { DevControlError } from "../../../dev/dev-settings.ts";
import { chooseForkPoint, planReadsOf } from "../../../dev/fork/choose-fork-point.ts";
import { fetchRemoteCalls } from "../../../dev/fork/fetch-remote-calls.ts";
import { FORK_CACHE_LIMITS, ForkCache, forkCacheName, removeUnboundCaches } from "../../../dev/fork/fork-cache.ts";
import {
  type ForkAccounts,
  type ForkBlock,
  type ForkChoice,
  type ForkPoint,
  loadForkChoice,
  storeForkChoice,
} from "../../../dev/fork/fork-point.ts";
import { aliasRoot, ForkedState } from "../../../dev/fork/forked-state.ts";
import { cachedCalls, cachedSyncCalls, firstReads, readAhead } from "../../../dev/fork/read-ahead.ts";
import type { RemoteCalls } from "../../../dev/fork/remote-calls.ts";
import { RemoteState } from "../../../dev/fork/remote-state.ts";
import { RemoteThread } from "../../../dev/fork/remote-thread.ts";
import { changesOfAlloc } from "../../../evm/state/state-changes.ts";
import { createStateTrie, type StateTrie } from "../../../evm/state/state-trie.ts";
import type { Forking } from "../../../rpc/ports/dev.ts";
import type { Config } from "../../config/config.ts";
import { DEFAULTS } from "../../config/defaults.ts";
import { DEFAULT_DEV_HARDFORK, type DevHardfork } from "../../config/dev-rules.ts";
import { InvalidConfigError, invalidSetting } from "../../config/errors.ts";
import { openDevWallet } from "../../config/genesis/dev-wallet.ts";
import { renderGenesis } from "../../config/genesis/genesis.ts";
import { devGenesisPath, forkCacheDirectory, forkPointPath, isInMemory } from "../../config/home.ts";
import { systemContractsOf } from "../../config/predeploys.ts";
import { DEV_BALANCE, devAccounts } from "../../keystore/dev-accounts.ts";
import { blockBeforeTransaction } from "./fork-transaction.ts";
import { remoteAccessOf } from "./remote-access.ts";

/** Divisor of the fork's memory: one part is for decoded accounts, the rest for raw results. */
const DECODED_SHARE = 4;

/** A dev chain that continues a block of another chain. */
export type Fork = {
  /** Chain id, rules and accounts after the fork. */
  readonly genesis: Genesis;
  /** The forked block, which is the base of the store: without transactions, which the remote chain has. */
  readonly base: BlockRecord;
  readonly state: RemoteChain & Pick<ForkedState, "apply" | "dropAfter" | "missedBy">;
  /** Makes state tries report the state root of the forked block for the store's part of its state. */
  readonly aliasRoot: (trie: StateTrie) => StateTrie;
  /** Calls about blocks up to the fork, whose answers are cached. */
  readonly call: RemoteCalls;
  readonly point: ForkPoint;
  readonly choice: ForkChoice;
  /** Whether every read of its state is proven. */
  readonly isVerified: boolean;
  /** Nodes of the remote chain; if empty, only cached data is available. */
  readonly urls: readonly string[];
  setUrls(urls: readonly string[]): void;
  /** Memory of the data read from the remote chain. */
  cacheBytes(): number;
  /** Results that did not fit. */
  uncached(): number;
  close(): Promise<void>;
};

export type ForkModules = { readonly log: Logger; readonly timers: Timers };

/**
 * Opens the fork that a home's chain continues.
 * @param choice undefined: the home's stored choice, else `dev.fork-url`
 * @returns undefined if the chain is not a fork
 * @throws InvalidConfigError, ForkFileError, and errors of `chooseForkPoint`
 */
export async function openFork(config: Config, modules: ForkModules, choice?: ForkChoice): Promise<Fork | undefined> {
  const { log, timers } = modules;
  const stored = choice === undefined ? storedChoice(config) : undefined;
  const isNew = stored === undefined;
  const chosen = isNew ? (choice === undefined ? await newChoice(config, modules) : choice) : stored;
  if (chosen === null) return undefined;
  assertForkable(config);
  const { point, isVerified } = chosen;
  const { chainId, header, hash, alloc } = point;
  const access = remoteAccessOf(config);
  const nodes = {
    urls: chosen.urls ?? config.devChain.forkUrls,
    access,
    planReads: planReadsOf(point, isVerified),
  };
  const accountBytes = FORK_CACHE_LIMITS.bytesMax / DECODED_SHARE;
  const directory = forkCacheDirectory(config.home);
  const removed = removeUnboundCaches(directory);
  if (removed > 0) log.info("removed fork caches that do not name their block", { removed });
  const cache = new ForkCache(
    join(directory, forkCacheName({ chainId, number: header.number, hash, isVerified })),
    FORK_CACHE_LIMITS.bytesMax - accountBytes,
  );
  const call = cachedCalls(fetchRemoteCalls(nodes, timers), cache);
  const thread = new RemoteThread({ urls: nodes.urls, block: point, isVerified, access }, log);
  // The remote node has just answered, or a restart without it uses stored data.
  const genesis = genesisOf(config, point, chosen.ownChainId ?? chainId);
  const now = Math.floor(Date.now() / 1000);
  const first = { number: header.number + 1, timestamp: now, difficulty: 0n };
  const reads = isNew ? firstReads(header, now, hardforkAt(genesis.config, first)) : [];
  await call(reads).catch(() => {});
  const remote = new RemoteState(
    {
      block: header.number,
      parentHash: isVerified ? header.parentHash : undefined,
      bytesMax: accountBytes,
    },
    {
      call: cachedSyncCalls(
        readAhead((calls) => thread.call(calls), cache),
        cache,
      ),
      cache,
    },
  );
  const state = new ForkedState(remote);
  const changes = changesOfAlloc(alloc);
  const { root } = createStateTrie({ node: () => undefined }).update(EMPTY_TRIE_ROOT, changes);
  return {
    genesis,
    base: {
      block: {
        hash,
        header,
        transactions: [],
        uncles: [],
        ...(header.withdrawalsRoot !== undefined && { withdrawals: [] }),
      },
      senders: [],
      receipts: [],
      changes,
      consensusData: EMPTY_BYTES,
    },
    state,
    aliasRoot: (trie) => aliasRoot(trie, root, header.stateRoot),
    call,
    point,
    choice: chosen,
    isVerified,
    get urls() {
      return nodes.urls;
    },
    setUrls(urls) {
      nodes.urls = urls;
      thread.setUrls(urls);
    },
    cacheBytes: () => cache.bytes + remote.bytes,
    uncached: () => cache.rejected,
    close: () => thread.close(),
  };
}

/**
 * The fork that a reset continues.
 * @param forking undefined: no fork
 * @throws DevControlError if no node is known, ForkRemoteError
 */
export async function chooseFork(
  config: Config,
  current: Fork | undefined,
  forking: Forking | undefined,
  modules: ForkModules,
): Promise<ForkChoice> {
  if (forking === undefined) return null;
  const { url, blockNumber } = forking;
  if (url === undefined && blockNumber === undefined && current === undefined) return null;
  const urls = url === undefined ? current?.urls : [url];
  if (current !== undefined && urls?.length === 0) return current.choice;
  if (urls === undefined) {
    throw new DevControlError("Forking not enabled and RPC URL not provided to start forking");
  }
  assertForkable(config);
  const ownChainId = current?.choice?.ownChainId;
  return {
    ...(ownChainId !== undefined && { ownChainId }),
    ...(await choosePoint(config, { urls, blockNumber }, modules)),
    urls,
  };
}

/**
 * The home's original choice, or that of its last reset; undefined: it is new, or in memory.
 * @throws InvalidConfigError
 */
function storedChoice(config: Config): ForkChoice | undefined {
  if (!config.dev || isInMemory(config)) return undefined;
  const stored = withVerification(config, loadForkChoice(forkPointPath(config.home)));
  // A reset overrides the settings; otherwise they must not contradict the home.
  if (stored != null && stored.urls === undefined) {
    assertSameBlock(config, stored);
    assertSameChainId(config, stored);
  }
  return stored;
}

/**
 * `stored`, adjusted to `--fork-verify`. Proofs may be given up, permanently: blocks made without them stay.
 * @throws InvalidConfigError
 */
function withVerification(
  { home, devChain: { forkVerify } }: Config,
  stored: ForkChoice | undefined,
): ForkChoice | undefined {
  if (stored == null) return stored;
  if (forkVerify === "on" && !stored.isVerified) {
    throw invalidSetting("fork-verify", `the chain in ${home} was created without proofs; choose another --home`);
  }
  if (forkVerify !== "off" || !stored.isVerified) return stored;
  const unverified = { ...stored, isVerified: false };
  storeForkChoice(forkPointPath(home), unverified);
  return unverified;
}

/** The settings' choice, stored in the home. @throws InvalidConfigError, ForkRemoteError */
async function newChoice(config: Config, modules: ForkModules): Promise<ForkChoice> {
  const { home, devChain } = config;
  const { forkUrls: urls, forkBlock } = devChain;
  if (urls.length === 0 && forkBlock !== null) {
    const key = "fork-block";
    throw new InvalidConfigError(`${key} needs --fork-url`, { key });
  }
  if (urls.length === 0) return null;
  assertForkable(config);
  const hasFiles = !isInMemory(config);
  if (hasFiles && existsSync(devGenesisPath(home))) {
    throw invalidSetting("dev.fork-url", `${home} has a dev chain that is not a fork; choose another --home`);
  }
  const blockNumber = (await blockBeforeTransaction(config, modules.timers)) ?? forkBlock ?? undefined;
  const choice = await choosePoint(config, { urls, blockNumber }, modules);
  if (hasFiles) storeForkChoice(forkPointPath(home), choice);
  return choice;
}

/** @throws InvalidConfigError */
function assertForkable({ dev, jsonRpc }: Config): void {
  if (!dev) throw invalidSetting("dev.fork-url", "only a dev chain can fork another chain: add --dev");
  if (jsonRpc.processes > 0) {
    throw invalidSetting("json-rpc.processes", "a fork needs json-rpc.processes = 0, because its state is not on disk");
  }
}

/** @throws InvalidConfigError */
function assertSameChainId({ home, devChain: { chainId } }: Config, stored: NonNullable<ForkChoice>): void {
  const own = stored.ownChainId ?? stored.point.chainId;
  if (chainId === null || BigInt(chainId) === own) return;
  throw invalidSetting("chain-id", `the chain in ${home} has chain id ${own}; choose another --home`);
}

/** @throws InvalidConfigError */
function assertSameBlock({ home, devChain: { forkBlock } }: Config, stored: ForkChoice): void {
  const number = stored?.point.header.number;
  // A negative number counted from the newest block at that time.
  if (forkBlock === null || forkBlock < 0 || number === undefined || forkBlock === number) return;
  throw invalidSetting("fork-block", `the chain in ${home} forks block ${number}; choose another --home`);
}

async function choosePoint(
  config: Config,
  wanted: { readonly urls: readonly string[]; readonly blockNumber: number | undefined },
  modules: ForkModules,
) {
  const { forkVerify: verify, forkChainId, chainId: ownChainId } = config.devChain;
  const chainId = forkChainId === null ? undefined : BigInt(forkChainId);
  const access = remoteAccessOf(config);
  const options = { ...wanted, verify, accounts: accountsOf(config), access, chainId };
  const chosen = await chooseForkPoint(options, modules);
  return { ...chosen, ...(ownChainId !== null && { ownChainId: BigInt(ownChainId) }) };
}

function accountsOf(config: Config): ForkAccounts {
  const { accounts: count, balance } = config.devChain;
  const accounts = devAccounts(count ?? DEFAULTS.devAccounts, openDevWallet(config));
  return {
    funded: new Map(accounts.map(({ address }) => [address, balance ?? DEV_BALANCE])),
    contractsAfter(block) {
      const contracts = systemContractsOf(hardforkAfter(config, block));
      return new Map(contracts.map(({ address, code }) => [parseAddress(address), hexToBytes(code)]));
    },
  };
}

/**
 * The rules of the blocks after a forked one: the requested ones, else the remote chain's, else the default or, if the header shows a later
 * fork, that one.
 */
function hardforkAfter({ devChain }: Config, { header, rules }: ForkBlock): DevHardfork {
  const shown = header.slotNumber === undefined ? DEFAULT_DEV_HARDFORK : "amsterdam";
  return devChain.hardfork ?? rules?.hardfork ?? shown;
}

/** `config` with all forks active, and the remote chain's blob parameters. */
function withBlobs(config: ChainConfig, { rules }: ForkBlock): ChainConfig {
  const params = DEFAULT_BLOB_SCHEDULE[rules?.blobSchedule ?? ""];
  const newest = BLOB_FORKS.find(([name]) => config.blobSchedule[name] !== undefined);
  if (params === undefined || newest === undefined) return config;
  return { ...config, blobSchedule: { ...config.blobSchedule, [newest[0]]: params } };
}

function genesisOf(config: Config, point: ForkPoint, chainId: bigint): Genesis {
  const { codeSizeLimit, hasTxGasLimit } = config.devChain;
  const { timestamp } = point.header;
  const text = renderGenesis({
    chainId,
    timestamp,
    alloc: new Map(),
    hardfork: hardforkAfter(config, point),
    ...(codeSizeLimit !== null && { codeSizeMax: codeSizeLimit }),
    noTxGasLimit: !hasTxGasLimit,
  });
  const genesis = parseGenesis(text);
  const rules = config.devChain.hardfork === null ? withBlobs(genesis.config, point) : genesis.config;
  return { ...genesis, config: rules, alloc: point.alloc };
}
