import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { NodeError } from "../../../base/errors.ts";
import { gasLimitFault } from "../../../base/params/execution-limits.ts";
import { type Genesis, parseGenesis } from "../../../base/params/genesis.ts";
import type { Hash } from "../../../base/primitives/hash.ts";
import type { Logger } from "../../../base/telemetry/logger.ts";
import type { Timers } from "../../../base/telemetry/timers.ts";
import { EMPTY_TRIE_ROOT } from "../../../base/types/constants.ts";
import type { Header } from "../../../base/types/header.ts";
import { readAgreement } from "../../../chain/agreement/agreement.ts";
import type { BlockRecord } from "../../../chain/block-store.ts";
import { type Chain, createChain } from "../../../chain/chain.ts";
import { createChainStateTrie } from "../../../chain/chain-state-trie.ts";
import { checkForkSchedule } from "../../../chain/fork-schedule.ts";
import { genesisBlock, genesisState } from "../../../chain/genesis-block.ts";
import { type GenesisDigest, openGenesisDigest } from "../../../chain/genesis-digest.ts";
import { StatePatches } from "../../../chain/reader.ts";
import { deferOn } from "../../../chain/store/background-work.ts";
import { type CacheSizes, divideCacheSize } from "../../../chain/store/cache-sizes.ts";
import { BULK_MERGE_LIMITS } from "../../../chain/store/index/index-merge.ts";
import type { LogBlockStore } from "../../../chain/store/log-block-store.ts";
import { createMemoryBlockStore, openDiskBlockStore } from "../../../chain/store/open-block-store.ts";
import type { RetentionOptions } from "../../../chain/store/retention/retention.ts";
import type { StatelessBlocks } from "../../../chain/store/stateless-blocks.ts";
import type { LogBlockStoreOptions } from "../../../chain/store/store-options.ts";
import { ForkUnsupportedError } from "../../../dev/fork/errors.ts";
import { loadForkChoice } from "../../../dev/fork/fork-point.ts";
import type { LoadedState } from "../../../dev/state-dump.ts";
import { createStateTrie, type StateTrie } from "../../../evm/state/state-trie.ts";
import { LogTextCache } from "../../../rpc/methods/json/log-text-cache.ts";
import { NodeBatch } from "../../../store/trie/node-batch.ts";
import { ChunkedNodeCache, NODE_CACHE_BYTES_MIN } from "../../../store/trie/node-cache.ts";
import type { TrieNodeReader } from "../../../store/trie/node-store.ts";
import type { Config } from "../../config/config.ts";
import { invalidSetting } from "../../config/errors.ts";
import { fundedDevAccounts, openDevGenesis } from "../../config/genesis/dev-genesis.ts";
import { openDevWallet } from "../../config/genesis/dev-wallet.ts";
import { readGenesisText } from "../../config/genesis/genesis-file.ts";
import { dataPath, forkPointPath, genesisPath, isInMemory } from "../../config/home.ts";
import { DEV_WALLET, type DevAccount, type DevWallet } from "../../keystore/dev-accounts.ts";
import { loadedChain, storedLoadedBase, storeLoadedBase } from "./loaded-state.ts";
import type { Fork } from "./open-fork.ts";

/** The chain of a home, held by this process until the store is closed. */
export type OpenChain = {
  readonly chain: Chain;
  /** State set by dev methods; undefined if they are not available. */
  readonly patches: StatePatches | undefined;
  readonly fork: Fork | undefined;
  /** Whether its first blocks came from a dump. */
  readonly isLoaded: boolean;
  readonly store: LogBlockStore;
  readonly genesis: Genesis;
  readonly logTexts: LogTextCache;
  /** Current memory of each cache. */
  readonly cacheBytes: () => CacheSizes;
  /** Whether the chain existed before this call. */
  readonly resumed: boolean;
  /** Compares the genesis file with the rules by which the blocks were executed. @throws ForkScheduleError */
  readonly checkForks: () => void;
  /** Accounts that a dev chain funds from its wallet; empty on other chains. */
  readonly devAccounts: readonly DevAccount[];
  /** The wallet from which they are derived. */
  readonly devWallet: DevWallet;
};

/** Limits of files, merges and replays are for tests that need many of them. */
export type OpenChainOptions = Pick<LogBlockStoreOptions, "segmentBytesMax" | "mergeLimits" | "replayBytesMax"> & {
  /** Rebuilds the index from the log. */
  readonly reindex?: boolean;
  /** For many consecutive blocks without waiting requests. */
  readonly isBulk?: boolean;
  /** Moves the index to `index.path`. Commands may not know a flag of the node, so they leave it in place. */
  readonly movesIndex?: boolean;
  /** If false, the caller must call `checkForks` before a block is executed. */
  readonly checksForks?: boolean;
  /** Removes each old block at once instead of several at a time. */
  readonly pruneAtOnce?: boolean;
  /** Passed to the store, for an owner that delays blocks until the index was checked. */
  readonly checkedFirstBytesMax?: number;
  /** Called when damage is found in an index in use: reads may be wrong, and no more blocks are added. A restart repairs it. */
  readonly onIndexFault?: (error: Error) => void;
  /** For tests that crash at a named step. */
  readonly failPoint?: (name: string) => void;
  /** Replaces the real free disk space, for tests. */
  readonly freeBytes?: () => number;
  readonly fork?: Fork | undefined;
  /** A dump whose blocks begin an empty store. */
  readonly loaded?: LoadedState | undefined;
};

/** The store's chain differs from the genesis file's. */
class GenesisMismatchError extends NodeError {
  readonly code = "GENESIS_MISMATCH";
  constructor(details: { readonly stored: string; readonly configured: string }) {
    super(
      `the data in this home belongs to genesis ${details.stored}, but config/genesis.json yields ${details.configured}: restore the chain's original file, or remove data/ if its blocks belong to the wrong chain`,
      details,
    );
  }
}

/** This home has no chain yet. */
class HomeNotInitialisedError extends NodeError {
  readonly code = "HOME_NOT_INITIALISED";
  constructor(details: { readonly home: string }) {
    super(`no chain in ${details.home}: run "evmintd init" first`, details);
  }
}

/**
 * Opens the chain under `config.home`; an empty store gets the genesis block.
 * @throws GenesisMismatchError, ForkScheduleError, HomeNotInitialisedError, InvalidGenesisError, and errors of the store
 */
export function openChain(
  config: Config,
  { log, timers }: { readonly log: Logger; readonly timers: Pick<Timers, "soon"> },
  { fork, loaded, isBulk, checksForks = true, movesIndex = false, ...options }: OpenChainOptions = {},
): OpenChain {
  if (fork === undefined && holdsFork(config)) {
    throw new ForkUnsupportedError("this home has a fork of a remote chain, which only evmintd start can open", {
      home: config.home,
    });
  }
  // Checked before anything is created in a home whose name may be a mistake.
  if (!config.dev && !existsSync(genesisPath(config.home))) {
    throw new HomeNotInitialisedError({ home: config.home });
  }
  const loading = loaded && loadedChain(loaded, openDevGenesis(config, undefined));
  const loadedBase = loading ?? (config.dev && !isInMemory(config) ? storedLoadedBase(config.home) : undefined);
  const alias = fork?.aliasRoot ?? loadedBase?.aliasRoot ?? ((trie: StateTrie) => trie);
  const shares = divideCacheSize(config.cache.bytes);
  // Bulk work reads each block once, and the newest one stays decoded in any case.
  const caches = isBulk ? { ...shares, blocks: 0 } : shares;
  const storeOptions = {
    caches,
    defer: deferOn(timers),
    createTrie: (nodes: TrieNodeReader) => alias(createStateTrie(nodes)),
    addressIndex: config.index.addresses,
    retention: retentionOf(config, options),
    stateless: loadedBase?.stateless ?? (fork && statelessBase(fork)),
    ...(isBulk && { mergeLimits: BULK_MERGE_LIMITS, decodesHead: false }),
    ...options,
  };
  const store = isInMemory(config)
    ? createMemoryBlockStore(storeOptions)
    : openDiskBlockStore({
        directory: dataPath(config.home),
        ...(movesIndex && { indexFolder: config.index.path === "" ? null : resolve(config.home, config.index.path) }),
        logger: log.child("store"),
        ...storeOptions,
      });
  try {
    if (store.replayedBlocks > 0) {
      log.info("updated the index from the block log", { blocks: store.replayedBlocks });
    }
    const nodeCache = new ChunkedNodeCache(Math.max(caches.trieNodes, NODE_CACHE_BYTES_MIN));
    const stateTrie = alias(createChainStateTrie(store, { cache: nodeCache }));
    const resumed = store.head() !== undefined;
    if (loading !== undefined) {
      appendLoaded(loading, stateTrie, store);
      if (!isInMemory(config)) storeLoadedBase(config.home, loading.stateless, loading.storedRoot);
    }
    const { genesis, digest } = fork ? { genesis: fork.genesis } : genesisOf(config, store);
    assertGasLimit(config, genesis);
    const genesisHash = fork
      ? appendForkedBlock(fork, stateTrie, store)
      : loadedBase
        ? store.blockHash(store.base()!)!
        : (resumed && digest?.hash()) || makeGenesis(genesis, store);
    const stored = store.base() === 0 ? store.blockHash(0)! : genesisHash;
    if (stored !== genesisHash) {
      throw new GenesisMismatchError({ stored, configured: genesisHash });
    }
    if (digest?.hash() !== genesisHash) digest?.remember(genesisHash);
    const checkForks = () => {
      // A dev chain stores its rules itself.
      if (!config.dev) checkForkSchedule(dataPath(config.home), genesis.config, headerOf(store), agreedNames(store));
    };
    if (checksForks) checkForks();
    // Processes that follow the store would not see patches.
    const canPatch = isInMemory(config) || (config.dev && config.jsonRpc.processes === 0);
    const patches = canPatch ? new StatePatches() : undefined;
    const chain = createChain({
      config: canPatch ? { ...genesis.config, devRules: true } : genesis.config,
      store,
      stateTrie,
      log: log.child("chain"),
      genesisHash,
      ...(patches && { patches }),
      ...(fork && { remote: fork.state }),
    });
    if (fork) followChanges(fork, chain, store);
    const devWallet = config.dev ? openDevWallet(config) : DEV_WALLET;
    const devAccounts = config.dev ? fundedDevAccounts(genesis, devWallet) : [];
    const logTexts = new LogTextCache(caches.logTexts);
    const cacheBytes = () => ({
      ...store.cacheBytes(),
      trieNodes: nodeCache.bytes,
      logTexts: logTexts.bytes,
    });
    const isLoaded = loadedBase !== undefined;
    const opened = { chain, patches, fork, isLoaded, store, genesis, resumed };
    return { ...opened, devAccounts, devWallet, logTexts, cacheBytes, checkForks };
  } catch (error) {
    store.close();
    throw error;
  }
}

function holdsFork(config: Config): boolean {
  if (!config.dev || isInMemory(config)) return false;
  return (loadForkChoice(forkPointPath(config.home)) ?? null) !== null;
}

/** The forked block with this chain's changes to its state, stored under the remote root. */
function statelessBase({ base: { block } }: Fork): StatelessBlocks {
  const { number: last, stateRoot } = block.header;
  return { last, stateRoot };
}

/** Appends the forked block to an empty store. @returns its hash */
function appendForkedBlock({ base }: Fork, stateTrie: StateTrie, store: LogBlockStore): Hash {
  if (store.head() === undefined) {
    store.append(base, stateTrie.update(EMPTY_TRIE_ROOT, base.changes).nodes);
  }
  return base.block.hash;
}

/** Appends the blocks of a dump to an empty store. */
function appendLoaded({ records }: ReturnType<typeof loadedChain>, stateTrie: StateTrie, store: LogBlockStore): void {
  function* withNodes(): Generator<readonly [BlockRecord, NodeBatch]> {
    for (const [index, record] of records.entries()) {
      yield [record, index === 0 ? stateTrie.update(EMPTY_TRIE_ROOT, record.changes).nodes : new NodeBatch()];
    }
  }
  store.appendAll(withNodes());
}

/** Passes this chain's changes, past and future, to the fork. */
function followChanges({ state, base }: Fork, chain: Chain, store: LogBlockStore): void {
  const head = chain.head().block.header.number;
  for (let number = base.block.header.number; number <= head; number++) {
    state.apply(number, store.changes(number));
  }
  // Subscribes before all other listeners: they read the new state.
  chain.subscribe(({ executed, changes }) => state.apply(executed.block.header.number, changes), true);
  chain.onRollback(() => state.dropAfter(chain.head().block.header.number));
}

/** undefined: nothing is pruned. */
function retentionOf({ chain, state }: Config, { pruneAtOnce }: OpenChainOptions): RetentionOptions | undefined {
  if (chain.retainBlocks === null && state.history === null && state.proofs === null) {
    return undefined;
  }
  return {
    blocks: chain.retainBlocks ?? undefined,
    states: state.history ?? undefined,
    proofs: state.proofs ?? undefined,
    ...(pruneAtOnce && { blocksMin: 1 }),
  };
}

/** A new chain has its gas limit in the genesis; a start may set it for an existing or forked chain. @throws InvalidConfigError */
function assertGasLimit({ devChain: { gasLimit } }: Config, { config }: Genesis): void {
  const fault = gasLimit === null ? undefined : gasLimitFault(config, gasLimit);
  if (fault !== undefined) throw invalidSetting("gas-limit", fault);
}

/** Rules that the validators agreed on up to the head, by genesis file fields. */
function agreedNames(store: LogBlockStore): ReadonlySet<string> {
  return new Set(readAgreement(store.stateAt(store.head()!)).values.map(({ name }) => name));
}

function headerOf(store: LogBlockStore): Header {
  return store.header(store.head()!)!;
}

/** Appends block 0 to an empty store. @returns its hash */
function makeGenesis(genesis: Genesis, store: LogBlockStore): Hash {
  if (store.head() !== undefined) return genesisBlock(genesis).block.hash;
  store.appendGenesis(genesisState(genesis));
  return store.blockHash(0)!;
}

/** The genesis file of the home, or of its dev chain, whose few accounts need no digest. */
function genesisOf(
  config: Config,
  store: LogBlockStore,
): { readonly genesis: Genesis; readonly digest?: GenesisDigest } {
  if (config.dev) {
    const first = store.base() === 0 ? store.header(0) : undefined;
    return { genesis: openDevGenesis(config, first?.timestamp) };
  }
  const text = readGenesisText(genesisPath(config.home));
  return { genesis: parseGenesis(text), digest: openGenesisDigest(dataPath(config.home), text) };
}
