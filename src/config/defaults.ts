import { availableParallelism } from "node:os";
import { DEFAULT_ALLOWED_HOSTS, DEFAULT_ALLOWED_ORIGINS } from "../rpc/transport/server/origin.ts";

/**
 * Defaults and limits, each with the reason for its size; those of the JSON-RPC server itself are in `rpc/transport/limits.ts`.
 * A unit ends the name. Where several clients publish a figure we take geth's, because tools are tried against it.
 */
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
  /** From four cores on: one for each core but the chain's, four at most, because each takes some 70 MB (ADR 68). */
  rpcProcesses: processesFor(availableParallelism()),
  /** A developer has the chain alone, starts it often, and may set its state by hand, which only the chain's process sees. */
  rpcProcessesDev: 0,
  /** The thread that compiles begins with the first hot contract; a chain without one only counts gas (ADR 89). */
  evmCompile: "auto",
  /** 1,000 contracts of 2.5 KB, or 100 of the largest. */
  evmCompileCacheBytesMax: 200 * 2 ** 20,
  /** Some 1,000 contracts of 10 KB. */
  evmCompileFilesBytesMax: 256 * 2 ** 20,
  /** geth's, reth's and Besu's cap for a call nobody pays for. */
  rpcCallGasMax: 50_000_000n,
  /** geth's; a call that takes longer is an attack or a mistake. */
  rpcCallTimeoutMs: 5000,
  /** 50 million gas pay for 5 MB; only calls without a gas cap come near this. */
  rpcCallMemoryBytesMax: 128 * 2 ** 20,
  /** Some 5,000 blocks of 200 transactions with full bodies. */
  rpcBlockCacheBytes: 256 * 2 ** 20,
  /** Bytes one call may return; contracts return kilobytes, memory expansion can return gigabytes. */
  rpcReturnBytesMax: 2 ** 20,
  /** geth's: 1 ether for one transaction is a misplaced decimal point, not a fee. */
  rpcTxFeeWeiMax: 10n ** 18n,
  /** No cap on the range: an index answers a million blocks in a millisecond. What costs is results. */
  rpcLogsResultsMax: 10_000,
  rpcLogsBytesMax: 20_000_000,
  /** Three seconds of searching, in slices between which other work gets its turn. */
  rpcLogsWorkMax: 1_000_000,
  /** geth's, for addresses and for each topic position. */
  rpcFilterTermsMax: 1000,
  /** geth's: a filter nobody polled for this long belongs to a client that is gone. */
  rpcFilterIdleMs: 5 * 60_000,
  /** Filters cost the caller nothing and live for minutes; each is a position in the chain with its criteria. */
  rpcFiltersMax: 10_000,
  /** Ten times what the busiest of known clients installs. */
  rpcConnectionFiltersMax: 1_000,
  /** Twenty in each of 10,000 filters: some 100 MB, as the filters of all subscriptions. */
  rpcTotalFilterTermsMax: 200_000,
  /** Of one connection; a wallet uses three. */
  rpcSubscriptionsMax: 128,
  /** Three for each of 10,000 WebSockets, as a wallet uses; a block header to all is 20 MB of notifications. */
  rpcTotalSubscriptionsMax: 30_000,
  /** Addresses and topics in the filters of all `logs` subscriptions; some 500 bytes each. */
  rpcSubscriptionTermsMax: 200_000,
  /** Events that wait to be sent, each once for all its subscribers: ten of the largest blocks in full. */
  rpcNotificationQueueBytesMax: 64 * 2 ** 20,
  /** geth's. */
  rpcFeeHistoryBlocksMax: 1024,
  /** geth's for one transaction. */
  rpcTraceTimeoutMs: 5_000,
  /** A trace holds up other calls. */
  rpcTraceTimeoutMsMax: 60_000,
  /** A node that traces stays within 300 MB of memory (bench/rpc/trace-memory.ts). */
  rpcTraceBytesMax: 96 * 2 ** 20,
  /** A trace of 100,000 steps as objects; the engine itself needs 16 MiB. A thread runs at most four scripts at once. */
  rpcTraceScriptMemoryBytesMax: 64 * 2 ** 20,
  /** reth's; each block is executed again. */
  rpcTraceFilterBlocksMax: 100,
  /** geth has 10; a file to import may hold many that fail for one reason. */
  rpcBadBlocksMax: 100,
  /** A hundred blocks of 300 KB. */
  rpcBadBlocksBytesMax: 32 * 2 ** 20,
  /** Each keeps an execution thread and the traces of a block busy for as long as its client reads. */
  rpcTraceChainsMax: 4,
  /** Erigon's, and what Otterscan asks for. */
  rpcOtsPageSizeMax: 25,

  /** A snapshot reads all of the state: only nodes that serve new ones need them. */
  snapshotInterval: 0,
  /** A million slots or two million accounts, for which restoring takes 1.2 or 2.8 GB; V8's heap has 2 to 4 GB by default. */
  snapshotRestoreBytesMax: 64 * 2 ** 20,

  /** Blocks on a clock, so that contracts which wait for time see it pass. */
  blockTimeMs: 1000,
  /** geth's target since the limit of mainnet was raised to it. */
  blockGasLimit: 60_000_000n,

  /** Clock corrections are seconds; one of more than an hour needs the operator's confirmation. */
  clockJumpMs: 3_600_000,
  /** A laptop's clock jumps by as long as it slept. The longest duration a setting can have. */
  clockJumpMsDev: 24 * 86_400_000,
  /** 128 of the largest transactions, for finding the bug. */
  quarantineBytesMax: 16 * 2 ** 20,

  /** geth's admission: a tip of 1 wei, a tenth more for a replacement. */
  poolPriceLimitWei: 1n,
  poolPriceBumpPercent: 10,
  /**
   * A service that sends from one account runs some minutes ahead of the blocks with as many; a dev chain is filled by scripts
   * that send thousands before the first block.
   */
  poolAccountSlots: 1024,
  poolAccountSlotsDev: 10_000,
  /** Some 80,000 transfers; with the blobs, 256 MiB in all, a quarter of the smallest machine worth running a node on. */
  poolBytesMax: 128 * 2 ** 20,
  /** A quarter: spam with nonce gaps costs its sender nothing and must leave room for what can be executed. */
  poolQueuedBytesMax: 32 * 2 ** 20,
  /** Some 900 blobs with their proofs, the blocks of twenty minutes. */
  poolBlobBytesMax: 128 * 2 ** 20,
  /** Each holds up to 1 MiB and takes some 0.3 s of a thread: the last one waits no longer than an HTTP client does. */
  poolBlobVerificationsMax: 32,
  /** Each takes up to 20 s of a thread: what waits longer has been given up by its caller. */
  poolBlobProofsMax: 4,
  poolLifetimeMs: 3 * 3_600_000,

  /** geth retains at least as many states: a reorganisation of a network, or a wallet behind the head, reaches no further back. */
  retainedBlocksMin: 128,

  /** As anvil and geth's documentation have it; Hardhat funds twenty. */
  devAccounts: 10,
  /** At a tenth of a millisecond each, derived at every start. */
  devAccountsMax: 1000,
  /** Some 500,000 slots and 2,000 contracts: more than test suites read. */
  forkCacheBytes: 256 << 20,

  /** Loopback: metrics show strangers the load of the node. geth's port. */
  metricsAddress: { host: "127.0.0.1", port: 6060 },
} as const;

/** Default of `json-rpc.workers`. @param cores that this process may use */
export function workersFor(cores: number): number {
  return Math.min(8, Math.max(1, cores - 1));
}

/** Default of `json-rpc.processes`. @param cores that this process may use */
export function processesFor(cores: number): number {
  return cores < 4 ? 0 : Math.min(4, cores - 1);
}
