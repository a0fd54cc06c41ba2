import { availableParallelism } from "node:os";
import { DEFAULT_ALLOWED_HOSTS, DEFAULT_ALLOWED_ORIGINS } from "../../rpc/transport/server/origin.ts";

/**
 * Defaults, each with the reason for its size; those of JSON-RPC are in `rpc/transport/limits.ts`, those of the pool in
 * `mempool/options.ts`, and fixed limits beside the code they bound. A unit ends the name. Where several clients publish a figure we take
 * geth's, because tools are tried against it.
 */
/** Tools whose answers a dev chain can give where tools differ; evmint: those of Hardhat and geth. */
export const DEV_DIALECTS = ["evmint", "anvil"] as const;

export const DEFAULTS = {
  /** The text before ` Signed Message:`; with any other name `ecrecover` in wallets and contracts disagrees. */
  chainName: "Ethereum",

  /** Loopback: calls from the network have to be configured. */
  rpcAddress: { host: "127.0.0.1", port: 8545 },
  /** The service's documented default. Dev chains, which hold unlocked accounts, and the `app.toml` of `init` use loopback. */
  wsAddress: { host: "0.0.0.0", port: 8546 },
  wsAddressLoopback: { host: "127.0.0.1", port: 8546 },
  /** What wallets and contracts need; operators open other namespaces by name. */
  rpcApi: ["eth", "net", "web3"],
  /** A page on another site that resolves its own name to 127.0.0.1 carries that name in its Host header. */
  rpcVhosts: DEFAULT_ALLOWED_HOSTS,
  /** Pages of a front end being developed, on any port of this machine, besides the wallets everyone gets. */
  corsOriginsDev: [...DEFAULT_ALLOWED_ORIGINS, "http://localhost:*", "http://127.0.0.1:*"],

  /**
   * Threads for calls of strangers: one per core besides the chain's, up to the number that one memory bus can feed. Each takes about 60 MB once
   * it works.
   */
  rpcWorkers: workersFor(availableParallelism()),
  /** From four cores on: one per core besides the chain's, at most four, because each takes about 70 MB (ADR 53). */
  rpcProcesses: processesFor(availableParallelism()),
  /** A developer uses the chain alone, restarts it often, and may set state by hand, which only the chain's process sees. */
  rpcProcessesDev: 0,
  evmSpeculationThreads: speculationThreadsFor(availableParallelism()),
  /** The compiling thread starts with the first hot contract; before that, the chain only counts gas (ADR 89). */
  evmCompile: "auto",
  /** The cap of geth, reth and Besu for calls, which cost the caller nothing. */
  rpcCallGasMax: 50_000_000n,
  /** geth's; a call that takes longer is an attack or a mistake. */
  rpcCallTimeoutMs: 5000,
  /** geth's: 1 ether for one transaction is a misplaced decimal point, not a fee. */
  rpcTxFeeWeiMax: 10n ** 18n,
  /** The block range is not capped: an index answers a million blocks in a millisecond. Results are what costs. */
  rpcLogsResultsMax: 10_000,
  /** A snapshot reads the whole state: only nodes that serve new ones need snapshots. */
  snapshotInterval: 0,

  /** Blocks at intervals, so that contracts which wait for time see it pass. */
  blockTimeMs: 1000,
  /** Tests and scripts send this many transactions at once. One block each for more would take seconds, and minutes of chain time. */
  batchAbove: 256,
  /** geth's target since mainnet's limit was raised to it. */
  blockGasLimit: 60_000_000n,

  /** Scripts fill a dev chain with thousands of transactions of one account before the first block. */
  poolAccountSlotsDev: 10_000,

  /** geth retains at least as many states: network reorganisations and wallets behind the head reach no further back. */
  retainedBlocksMin: 128,

  /** As in anvil and geth's documentation; Hardhat funds twenty. */
  devAccounts: 10,
  /** Deriving each takes a tenth of a millisecond, at every start. */
  devAccountsMax: 1000,
  /** Loopback: metrics reveal the node's load. The port is geth's. */
  metricsAddress: { host: "127.0.0.1", port: 6060 },
} as const;

/** Default of `json-rpc.workers`. @param cores that this process may use */
export function workersFor(cores: number): number {
  return Math.min(8, Math.max(1, cores - 1));
}

/** Default of `evm.speculation-threads`: below four cores, blocks and calls leave no core free. @param cores that this process may use */
export function speculationThreadsFor(cores: number): number {
  return Math.min(4, Math.floor(cores / 4));
}

/** Default of `json-rpc.processes`. @param cores that this process may use */
export function processesFor(cores: number): number {
  return cores < 4 ? 0 : Math.min(4, cores - 1);
}
