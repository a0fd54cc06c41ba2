import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Address } from "../../src/base/primitives/address.ts";
import { renderGenesis } from "../../src/node/config/genesis/genesis.ts";
import { genesisPath } from "../../src/node/config/home.ts";
import { DEV_BALANCE } from "../../src/node/keystore/dev-accounts.ts";

/** The engine of a home, and whether it is one of several nodes. */
export type StormEngine = "solo" | "cometbft" | "network";

/** Everything about a home that its seed decides. */
export type HomeSettings = {
  readonly engine: StormEngine;
  /** A dev chain, or one with a genesis file as `evmintd init` makes it. */
  readonly dev: boolean;
  readonly chainId: bigint;
  /** By key, as flags would set them. */
  readonly flags: Readonly<Record<string, string>>;
  /** Limits of files and merges that only tests lower. */
  readonly hooks: Readonly<Record<string, unknown>>;
  readonly rpcProcesses: number;
  /** Threads that execute transactions of the next block ahead. */
  readonly speculationThreads: number;
  readonly isInstant: boolean;
  readonly hasAddressIndex: boolean;
  /** Segments and merges that a short chain comes to. */
  readonly hasSmallLimits: boolean;
  /** undefined: none is removed */
  readonly retainedBlocks: number | undefined;
  /** A module that nodes load before anything else. */
  readonly preload?: string;
  /** Longest pause of a sender, which comes after one of four transactions. Milliseconds. */
  readonly pauseMsMax: number;
  /** Amsterdam begins so many seconds after the home is made; undefined: never. */
  readonly forkAfterSeconds?: number | undefined;
  /** Factor of the time that a life takes. */
  readonly slowness: number;
};

const DEV_CHAIN_ID = 31337n;
const CHAIN_ID = 9000n;
/** Of block 0 of homes with a genesis file, in Unix seconds. */
const GENESIS_TIMESTAMP = 1_700_000_000;

/** Starting a thread takes about as long as a short life. */
const SPECULATION_SLOWNESS = 6;
/** Transactions of a whole life instead of one block. */
const SPECULATION_PAUSE_MS_MAX = 150;
const SPECULATION_BLOCK_TIME = "300ms";

const PAUSE_MS_MAX = 12;
/** Some lives of a fast home. */
const FORK_SECONDS_MAX = 15;

/**
 * So small that some blocks begin segments and merge history, and some calls to a dev chain rewrite its journal; the defaults are megabytes and
 * gigabytes.
 */
const SMALL_LIMITS = {
  segmentBytesMax: 40_000,
  devJournalBytesMin: 1_000,
  mergeLimits: {
    versionsMin: 100,
    nodeBytesMin: 60_000,
    blocksMin: 16,
    keysMax: 20,
    logs: { blocksMin: 16, postingsMin: 120, logBytesMin: 12_000, rowsMax: 20 },
  },
};

/** Settings of a home. @param p2pPort where CometBFT of the home listens for peers */
export function drawSettings(engine: StormEngine, random: () => number, p2pPort: number): HomeSettings {
  const isOneOf = (count: number) => random() * count < 1;
  const dev = engine !== "network" && isOneOf(2);
  // A slow clock leaves most of a short life without a block, but fills the pool: a few homes are enough.
  const soloTime = isOneOf(16) ? "1s" : isOneOf(3) ? "100ms" : "instant";
  const blockTime = engine === "solo" ? soloTime : isOneOf(2) ? "100ms" : "300ms";
  const rpcProcesses = isOneOf(4) ? 1 + Math.floor(random() * 2) : 0;
  const retainedBlocks = isOneOf(3) ? 512 : undefined;
  const hasAddressIndex = isOneOf(2);
  const hasSmallLimits = !isOneOf(4);
  return {
    engine,
    dev,
    chainId: dev ? DEV_CHAIN_ID : CHAIN_ID,
    rpcProcesses,
    speculationThreads: 0,
    isInstant: blockTime === "instant",
    hasAddressIndex,
    hasSmallLimits,
    retainedBlocks,
    pauseMsMax: PAUSE_MS_MAX,
    slowness: engine === "solo" ? (blockTime === "1s" ? 2 : 1) : 3,
    hooks: { ...(hasSmallLimits && SMALL_LIMITS), pruneAtOnce: true },
    flags: {
      "json-rpc.enable": "true",
      "json-rpc.address": "127.0.0.1:0",
      "json-rpc.ws-address": "127.0.0.1:0",
      "json-rpc.api": "eth,net,web3,txpool,debug",
      "json-rpc.processes": String(rpcProcesses),
      "consensus.block-time": blockTime,
      "index.addresses": String(hasAddressIndex),
      "evm.compile": isOneOf(3) ? "off" : "auto",
      ...(retainedBlocks !== undefined && { "chain.retain-blocks": String(retainedBlocks) }),
      ...(retainedBlocks !== undefined && isOneOf(2) && { "state.history": "256", "state.proofs": "128" }),
      ...(isOneOf(3) && { "snapshot.interval": "40" }),
      ...(engine === "cometbft" && {
        "consensus.engine": "cometbft",
        "cometbft.p2p-address": `127.0.0.1:${p2pPort}`,
        "cometbft.local-net": "true",
      }),
    },
  };
}

/**
 * Settings with which `threads` threads execute ahead of the chain's own: no dev chain, blocks at intervals, and lives in which a thread that begins
 * with the first transactions comes to be of use. Half of the homes have RPC processes.
 * @param random a stream of its own
 */
export function withSpeculation(drawn: HomeSettings, threads: number, random: () => number): HomeSettings {
  const rpcProcesses = Math.floor(random() * 2) * (1 + Math.floor(random() * 2));
  return {
    ...drawn,
    dev: false,
    chainId: CHAIN_ID,
    isInstant: false,
    slowness: SPECULATION_SLOWNESS,
    pauseMsMax: SPECULATION_PAUSE_MS_MAX,
    rpcProcesses,
    speculationThreads: threads,
    flags: {
      ...drawn.flags,
      "json-rpc.processes": String(rpcProcesses),
      "consensus.block-time": SPECULATION_BLOCK_TIME,
      "evm.speculation-threads": String(threads),
      "metrics.enable": "true",
      "metrics.address": "127.0.0.1:0",
    },
  };
}

/** Makes half of the homes with a genesis file cross Amsterdam during their first lives. @param random a separate stream */
export function withFork(drawn: HomeSettings, random: () => number): HomeSettings {
  const forkAfterSeconds = 1 + Math.floor(random() * FORK_SECONDS_MAX);
  return { ...drawn, forkAfterSeconds: drawn.dev || random() < 0.5 ? undefined : forkAfterSeconds };
}

/** Writes the genesis file of a home that is no dev chain. */
export function writeGenesis(home: string, settings: HomeSettings, accounts: readonly Address[]): void {
  const { chainId, forkAfterSeconds } = settings;
  const alloc = new Map(accounts.map((address) => [address, DEV_BALANCE]));
  const text = renderGenesis({ chainId, timestamp: GENESIS_TIMESTAMP, alloc, contractsUpTo: "amsterdam" });
  const genesis = JSON.parse(text);
  if (forkAfterSeconds !== undefined) {
    genesis.config.amsterdamTime = Math.floor(Date.now() / 1000) + forkAfterSeconds;
  }
  mkdirSync(dirname(genesisPath(home)), { recursive: true });
  writeFileSync(genesisPath(home), JSON.stringify(genesis));
}
