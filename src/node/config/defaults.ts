import { availableParallelism } from "node:os";
import { DEFAULT_ALLOWED_HOSTS, DEFAULT_ALLOWED_ORIGINS } from "../../rpc/transport/server/origin.ts";

/**
 * Defaults, each with the reason for its size; those of JSON-RPC are in `rpc/transport/limits.ts`, those of the pool in
 * `mempool/options.ts`, and fixed limits beside the code they bound. A unit ends the name. Where several clients publish a figure we take
 * geth's, because tools are tried against it.
 */
/** Tools whose answers a dev chain can give where they disagree; evmint: Hardhat's and geth's. */
export const DEV_DIALECTS = ["evmint", "anvil"] as const;

export const DEFAULTS = {
  /** The text before ` Signed Message:`; with any other name `ecrecover` in wallets and contracts disagrees. */
  chainName: "Ethereum",

  /** Loopback: calls from the network have to be configured. */
  rpcAddress: { host: "127.0.0.1", port: 8545 },
  /** The service's documented default. Dev chains, which hold unlocked accounts, and the `app.toml` of `init` stay on loopback. */
  wsAddress: { host: "0.0.0.0", port: 8546 },
  wsAddressLoopback: { host: "127.0.0.1", port: 8546 },
  /** What a wallet and a contract need; everything else is opened by name. */
  rpcApi: ["eth", "net", "web3"],
  /** A page on another site that resolves its own name to 127.0.0.1 carries that name in its Host header. */
  rpcVhosts: DEFAULT_ALLOWED_HOSTS,
  /** Pages of a front end being developed, on any port of this machine, besides the wallets everyone gets. */
  corsOriginsDev: [...DEFAULT_ALLOWED_ORIGINS, "http://localhost:*", "http://127.0.0.1:*"],

  /**
   * Threads that execute what strangers ask for: one for each core but the chain's own, and no more than share the bandwidth of one
   * memory bus with profit; each takes some 60 MB once it works.
   */
  rpcWorkers: workersFor(availableParallelism()),
  /** From four cores on: one for each core but the chain's, four at most, because each takes some 70 MB (ADR 53). */
  rpcProcesses: processesFor(availableParallelism()),
  /** A developer has the chain alone, starts it often, and may set its state by hand, which only the chain's process sees. */
  rpcProcessesDev: 0,
  evmSpeculationThreads: speculationThreadsFor(availableParallelism()),
  /** The thread that compiles begins with the first hot contract; a chain without one only counts gas (ADR 89). */
  evmCompile: "auto",
  /** The cap of geth, reth and Besu for calls, which cost the caller nothing. */
  rpcCallGasMax: 50_000_000n,
  /** geth's; a call that takes longer is an attack or a mistake. */
  rpcCallTimeoutMs: 5000,
  /** geth's: 1 ether for one transaction is a misplaced decimal point, not a fee. */
  rpcTxFeeWeiMax: 10n ** 18n,
  /** No cap on the range: an index answers a million blocks in a millisecond. What costs is results. */
  rpcLogsResultsMax: 10_000,
  /** A snapshot reads all of the state: only nodes that serve new ones need them. */
  snapshotInterval: 0,

  /** Blocks on a clock, so that contracts which wait for time see it pass. */
  blockTimeMs: 1000,
  /** Transactions that tests and scripts send at once; blocks of one for more would take seconds, in the chain's time minutes. */
  batchAbove: 256,
  /** geth's target since the limit of mainnet was raised to it. */
  blockGasLimit: 60_000_000n,

  /** A dev chain is filled by scripts that send thousands of transactions of one account before the first block. */
  poolAccountSlotsDev: 10_000,

  /** geth retains at least as many states: a reorganisation of a network, or a wallet behind the head, reaches no further back. */
  retainedBlocksMin: 128,

  /** As anvil and geth's documentation have it; Hardhat funds twenty. */
  devAccounts: 10,
  /** At a tenth of a millisecond each, derived at every start. */
  devAccountsMax: 1000,
  /** Loopback: metrics show strangers the load of the node. geth's port. */
  metricsAddress: { host: "127.0.0.1", port: 6060 },
} as const;

/** Default of `json-rpc.workers`. @param cores that this process may use */
export function workersFor(cores: number): number {
  return Math.min(8, Math.max(1, cores - 1));
}

/** Default of `evm.speculation-threads`: below four cores nothing is free beside blocks and calls. @param cores that this process may use */
export function speculationThreadsFor(cores: number): number {
  return Math.min(4, Math.floor(cores / 4));
}

/** Default of `json-rpc.processes`. @param cores that this process may use */
export function processesFor(cores: number): number {
  return cores < 4 ? 0 : Math.min(4, cores - 1);
}
