/**
 * Every limit and default in one place, each with the reason for its size. A unit ends the name. Where several clients
 * publish a figure we take geth's, because tools are tried against it.
 */
export const DEFAULTS = {
  /** The text before ` Signed Message:`; with any other name `ecrecover` in wallets and contracts disagrees. */
  chainName: "Ethereum",

  /** Loopback: whoever wants the network to call this node has to say so. */
  rpcAddress: { host: "127.0.0.1", port: 8545 },
  /** The service's documented default; the dev chain, which holds unlocked accounts, stays on loopback. */
  wsAddress: { host: "0.0.0.0", port: 8546 },
  wsAddressDev: { host: "127.0.0.1", port: 8546 },
  /** What a wallet and a contract need; everything else is opened by name. */
  rpcApi: ["eth", "net", "web3"],
  /** A page on another site that resolves its own name to 127.0.0.1 carries that name in its Host header. */
  rpcVhosts: ["localhost"],
  /** Pages of a front end being developed, on any port of this machine. */
  corsOriginsDev: ["http://localhost", "http://127.0.0.1"],

  /** geth's; the largest contract creation is 128 KiB, the rest is room for batches. */
  rpcBodyBytesMax: 5 * 2 ** 20,
  /** As the HTTP body: one message is one request on either transport. */
  wsMessageBytesMax: 5 * 2 ** 20,
  /** geth's and cosmos/evm's; a batch takes one turn of the scheduler, so its length is a fairness limit. */
  rpcBatchItemsMax: 1000,
  /** geth's; a short request must not become a gigabyte of answer. */
  rpcBatchResponseBytesMax: 25_000_000,
  /** JSON.parse takes five million nested arrays; nothing legitimate nests beyond a dozen. */
  rpcDepthMax: 64,
  /** geth's, reth's and Besu's cap for a call nobody pays for. */
  rpcCallGasMax: 50_000_000n,
  /** geth's; a call that takes longer is an attack or a mistake. */
  rpcCallTimeoutMs: 5000,
  /** Bytes one call may return; contracts return kilobytes, memory expansion can return gigabytes. */
  rpcReturnBytesMax: 2 ** 20,
  /** geth's: 1 ether for one transaction is a misplaced decimal point, not a fee. */
  rpcTxFeeWeiMax: 10n ** 18n,
  /** No cap on the range: an index answers a million blocks in a millisecond. What costs is results. */
  rpcLogsResultsMax: 10_000,
  rpcLogsBytesMax: 20_000_000,
  /** geth's, for addresses and for each topic position. */
  rpcFilterTermsMax: 1000,
  /** geth's: a filter nobody polled for this long belongs to a client that is gone. */
  rpcFilterIdleMs: 5 * 60_000,
  /** Filters are made without payment and kept for minutes; each holds what happened since its last poll. */
  rpcFiltersMax: 10_000,
  /** Of one connection; a wallet uses three. */
  rpcSubscriptionsMax: 128,
  /** An HTTP connection may hold a request of the largest body each. */
  rpcHttpConnectionsMax: 1000,
  /** An idle WebSocket costs 7 kB. */
  rpcWsConnectionsMax: 10_000,
  /** Unsent bytes of one WebSocket: a reader this slow is cut off rather than kept in memory. */
  rpcWsSendBufferBytesMax: 16 * 2 ** 20,
  /** geth's. */
  rpcFeeHistoryBlocksMax: 1024,
  /** A header block arrives in one packet; ten seconds is for the worst of links. */
  rpcHeadersTimeoutMs: 10_000,
  /** geth's read, write and idle times. */
  rpcBodyTimeoutMs: 30_000,
  rpcReplyTimeoutMs: 30_000,
  rpcIdleTimeoutMs: 120_000,
  /** Traces waiting for a worker; behind it a caller is told to come back instead of being kept. */
  traceQueueMax: 64,
  /** reth's for `trace_filter`. */
  traceFilterBlocksMax: 100,

  /** Blocks on a clock, so that contracts which wait for time see it pass. */
  blockTimeMs: 1000,
  /** geth's target since the limit of mainnet was raised to it. */
  blockGasLimit: 60_000_000n,

  /** geth's pool: sizes count slots of 32 KiB. */
  poolPriceLimitWei: 1n,
  poolPriceBumpPercent: 10,
  poolAccountSlots: 16,
  poolGlobalSlots: 5120,
  poolAccountQueue: 64,
  poolGlobalQueue: 1024,
  poolLifetimeMs: 3 * 3_600_000,

  /** Decoded trie nodes and accounts kept; a cold look-up costs a few microseconds of LMDB each. */
  stateCacheBytes: 256 * 2 ** 20,

  /** Loopback: metrics tell a stranger what the node is busy with. geth's port. */
  metricsAddress: { host: "127.0.0.1", port: 6060 },
} as const;
