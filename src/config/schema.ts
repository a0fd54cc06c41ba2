import { CACHE_BYTES } from "../chain/store/cache-sizes.ts";
import { FORK_VERIFY_MODES } from "../dev/fork/choose-fork-point.ts";
import { ZERO_ADDRESS } from "../primitives/address.ts";
import { DEFAULT_RPC_LIMITS, type RpcLimits } from "../rpc/transport/limits.ts";
import { DEFAULT_ALLOWED_ORIGINS } from "../rpc/transport/server/origin.ts";
import { LOG_LEVELS } from "../telemetry/logger.ts";
import { COMETBFT_SETTINGS } from "./cometbft-settings.ts";
import { DEFAULTS } from "./defaults.ts";
import { PREDEPLOYS } from "./genesis/predeploys.ts";
import { LES_SETTINGS } from "./les-settings.ts";
import { type Option, option } from "./option.ts";
import { ACCESS_SETTINGS, KEY_STORE_LIMITS, SECURITY_SETTINGS } from "./security-settings.ts";
import { SHH_SETTINGS } from "./shh-settings.ts";
import {
  address,
  amount,
  blockTime,
  boolean,
  byteSize,
  bytes,
  duration,
  gas,
  hostPort,
  integer,
  list,
  oneOf,
  retainedBlocks,
  text,
  unset,
} from "./value-types.ts";

export type { Option } from "./option.ts";

/** Keys of geth or of earlier versions, and the key that takes their place. */
export const REPLACED_KEYS: Readonly<Record<string, string>> = {
  "mempool.global-slots": "mempool.size-limit",
  "mempool.global-queue": "mempool.queue-size-limit",
  "state.cache-size": "cache.size",
};

/** Keys of earlier versions that nothing takes the place of, and why. */
export const REMOVED_KEYS: Readonly<Record<string, string>> = {
  "cometbft.rpc-address":
    "CometBFT's own RPC is the socket cometbft/rpc.sock in the home; delete the line",
};

/** Every setting there is, by its place in `Config`. The order is that of `app.toml`. */
export const SCHEMA = {
  chain: {
    name: option("chain.name", text, DEFAULTS.chainName, {
      description:
        "Chain name in the prefix of signed messages; wallets and contracts expect Ethereum.",
    }),
    retainBlocks: option("chain.retain-blocks", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description:
        "Newest blocks that are stored with their receipts and logs, archive: all of them. Older ones are removed in the background; the states of removed blocks go with them.",
    }),
  },
  mempool: {
    minimumGasPriceWei: option("minimum-gas-prices", amount, 0n, {
      description:
        "Lowest gas price the node accepts and proposes. miner_setGasPrice writes it here; a flag outranks it.",
    }),
    priceLimitWei: option("mempool.price-limit", amount, DEFAULTS.poolPriceLimitWei, {
      description: "Lowest tip for admission to the pool.",
    }),
    priceBumpPercent: option(
      "mempool.price-bump",
      integer(1, 1000),
      DEFAULTS.poolPriceBumpPercent,
      {
        description: "Percent by which a replacement must raise both fees.",
      },
    ),
    accountSlots: option("mempool.account-slots", integer(1), DEFAULTS.poolAccountSlots, {
      dev: DEFAULTS.poolAccountSlotsDev,
      description: "Most executable transactions of one account in the pool.",
    }),
    accountQueue: option("mempool.account-queue", integer(1), DEFAULTS.poolAccountSlots, {
      dev: DEFAULTS.poolAccountSlotsDev,
      description: "Most transactions of one account after a nonce gap.",
    }),
    bytesMax: option("mempool.size-limit", byteSize, DEFAULTS.poolBytesMax, {
      description: "Memory of all transactions in the pool except those with blobs.",
    }),
    queuedBytesMax: option("mempool.queue-size-limit", byteSize, DEFAULTS.poolQueuedBytesMax, {
      description: "Part of the size limit that transactions after a nonce gap may take.",
    }),
    blobBytesMax: option("mempool.blob-size-limit", byteSize, DEFAULTS.poolBlobBytesMax, {
      description: "Memory of all blob transactions in the pool.",
    }),
    blobVerificationsMax: option(
      "mempool.blob-verifications",
      integer(1),
      DEFAULTS.poolBlobVerificationsMax,
      { description: "Blob transactions whose proofs may wait for verification." },
    ),
    blobProofsMax: option("mempool.blob-proofs", integer(1), DEFAULTS.poolBlobProofsMax, {
      description: "Requests that may wait for the node to compute proofs of blobs.",
    }),
    lifetimeMs: option("mempool.lifetime", duration, DEFAULTS.poolLifetimeMs, {
      description: "How long transactions after a nonce gap stay in the pool.",
    }),
    journal: option("mempool.journal", boolean, true, {
      description: "Stores waiting transactions on disk and restores them at the next start.",
    }),
  },
  jsonRpc: {
    enable: option("json-rpc.enable", boolean, false, {
      dev: true,
      init: true,
      description: "Serve JSON-RPC over HTTP and WebSocket.",
    }),
    address: option("json-rpc.address", hostPort, DEFAULTS.rpcAddress, {
      description: "Where HTTP listens.",
    }),
    wsAddress: option("json-rpc.ws-address", hostPort, DEFAULTS.wsAddress, {
      dev: DEFAULTS.wsAddressLoopback,
      init: DEFAULTS.wsAddressLoopback,
      description: "Where WebSocket listens.",
    }),
    api: option("json-rpc.api", list, DEFAULTS.rpcApi, {
      dev: ["all"],
      description:
        "Namespaces open over HTTP and WebSocket; all opens every one. Private methods also need a token.",
    }),
    corsOrigins: option("json-rpc.cors-origins", list, DEFAULT_ALLOWED_ORIGINS, {
      dev: DEFAULTS.corsOriginsDev,
      description:
        "Origins whose pages may call, over HTTP and WebSocket: SCHEME://HOST, :* for any port, * for every page.",
    }),
    vhosts: option("json-rpc.vhosts", list, DEFAULTS.rpcVhosts, {
      description: "Host names requests may be sent to besides IP addresses; * accepts every name.",
    }),
    compileSolidity: option("json-rpc.compile-solidity", boolean, false, {
      dev: true,
      description:
        "Compile sources that callers send, where the npm package solc is installed: half a minute of a thread each.",
    }),
    fastHttp: option("json-rpc.fast-http", boolean, true, {
      description: "Answer plain calls straight from the socket; false leaves all to node:http.",
    }),
    nullPowFields: option("json-rpc.null-pow-fields", boolean, false, {
      description:
        "Serve nonce, sha3Uncles, difficulty and totalDifficulty as null; several libraries reject such blocks.",
    }),
    allowInsecureUnlock: option("json-rpc.allow-insecure-unlock", boolean, false, {
      description: "Let accounts be unlocked although a listener is not on loopback.",
    }),
    workers: option("json-rpc.workers", integer(0, 64), DEFAULTS.rpcWorkers, {
      description:
        "Threads for calls and traces that take long; 0 runs them on the chain's thread.",
    }),
    processes: option("json-rpc.processes", integer(0, 64), DEFAULTS.rpcProcesses, {
      dev: DEFAULTS.rpcProcessesDev,
      description:
        "Processes that serve HTTP and WebSocket connections beside the chain's, each with a thread for long calls; 0 serves them in the chain's.",
    }),
    callGasMax: option("json-rpc.gas-cap", gas, DEFAULTS.rpcCallGasMax, {
      description: "Gas one eth_call or eth_estimateGas may use; 0 is no cap.",
    }),
    callTimeoutMs: option("json-rpc.evm-timeout", duration, DEFAULTS.rpcCallTimeoutMs, {
      description: "Time one eth_call may take; 0 is no limit.",
    }),
    callMemoryBytesMax: option(
      "json-rpc.evm-memory-limit",
      byteSize,
      DEFAULTS.rpcCallMemoryBytesMax,
      { description: "EVM memory one eth_call may use." },
    ),
    returnBytesMax: option("json-rpc.return-limit", byteSize, DEFAULTS.rpcReturnBytesMax, {
      description: "Bytes one eth_call may return, also when it reverts.",
    }),
    traceTimeoutMs: option("json-rpc.trace-timeout", duration, DEFAULTS.rpcTraceTimeoutMs, {
      description:
        "Time one debug_trace call may take, with all its transactions, unless it names another.",
    }),
    traceTimeoutMsMax: option(
      "json-rpc.trace-timeout-limit",
      duration,
      DEFAULTS.rpcTraceTimeoutMsMax,
      { description: "The longest time a debug_trace call may name." },
    ),
    traceBytesMax: option("json-rpc.trace-size-limit", byteSize, DEFAULTS.rpcTraceBytesMax, {
      description: "Bytes all traces of one debug_trace call may have.",
    }),
    traceScriptMemoryBytesMax: option(
      "json-rpc.trace-script-memory",
      byteSize,
      DEFAULTS.rpcTraceScriptMemoryBytesMax,
      { description: "Memory of one JavaScript tracer, its engine included; 16 MiB at least." },
    ),
    traceFilterBlocksMax: option(
      "json-rpc.trace-filter-blocks",
      integer(1),
      DEFAULTS.rpcTraceFilterBlocksMax,
      { description: "Blocks one trace_filter call may execute again." },
    ),
    badBlocksMax: option("json-rpc.bad-blocks-limit", integer(1), DEFAULTS.rpcBadBlocksMax, {
      description: "Rejected blocks stored for debug_getBadBlocks, the newest.",
    }),
    badBlocksBytesMax: option(
      "json-rpc.bad-blocks-size-limit",
      byteSize,
      DEFAULTS.rpcBadBlocksBytesMax,
      { description: "Bytes of all of them." },
    ),
    traceChainsMax: option("json-rpc.trace-chains", integer(1), DEFAULTS.rpcTraceChainsMax, {
      description: "traceChain subscriptions of all connections.",
    }),
    otsPageSizeMax: option("json-rpc.ots-page-size", integer(1), DEFAULTS.rpcOtsPageSizeMax, {
      description: "Most transactions in a page of an ots method.",
    }),
    allowUnprotected: option("json-rpc.allow-unprotected-txs", boolean, false, {
      // Deployers of well-known contracts are signed without one, to be good on every chain.
      dev: true,
      description: "Take legacy transactions without a chain id (EIP-155) from callers.",
    }),
    blockCacheBytes: option("json-rpc.block-cache-size", byteSize, DEFAULTS.rpcBlockCacheBytes, {
      description: "Memory for blocks and receipts cached as JSON.",
    }),
    txFeeWeiMax: option("json-rpc.fee-cap", amount, DEFAULTS.rpcTxFeeWeiMax, {
      description: "Highest fee of one transaction sent through this node; 0 is no cap.",
    }),
    logsResultsMax: option("json-rpc.logs-limit", integer(1), DEFAULTS.rpcLogsResultsMax, {
      description: "Logs in one answer.",
    }),
    logsBytesMax: option("json-rpc.logs-size-limit", byteSize, DEFAULTS.rpcLogsBytesMax, {
      description: "Size of one answer with logs.",
    }),
    logsWorkMax: option("json-rpc.logs-work-limit", integer(10_000), DEFAULTS.rpcLogsWorkMax, {
      description: "Blocks and index rows one search for logs may look at.",
    }),
    filterTermsMax: option("json-rpc.filter-terms-limit", integer(1), DEFAULTS.rpcFilterTermsMax, {
      description: "Addresses, and topics at one position, in a log filter.",
    }),
    filterIdleMs: option("json-rpc.filter-timeout", duration, DEFAULTS.rpcFilterIdleMs, {
      description: "How long a filter lives without being polled.",
    }),
    filtersMax: option("json-rpc.filters-limit", integer(1), DEFAULTS.rpcFiltersMax, {
      description: "Filters of all callers.",
    }),
    totalFilterTermsMax: option(
      "json-rpc.total-filter-terms-limit",
      integer(1),
      DEFAULTS.rpcTotalFilterTermsMax,
      { description: "Addresses and topics in the log filters of all callers." },
    ),
    connectionFiltersMax: option(
      "json-rpc.connection-filters-limit",
      integer(1),
      DEFAULTS.rpcConnectionFiltersMax,
      { description: "Filters made over one WebSocket or IPC connection." },
    ),
    subscriptionsMax: option(
      "json-rpc.subscriptions-limit",
      integer(1),
      DEFAULTS.rpcSubscriptionsMax,
      { description: "Subscriptions of one connection." },
    ),
    totalSubscriptionsMax: option(
      "json-rpc.total-subscriptions-limit",
      integer(1),
      DEFAULTS.rpcTotalSubscriptionsMax,
      { description: "Subscriptions of all connections." },
    ),
    subscriptionTermsMax: option(
      "json-rpc.subscription-terms-limit",
      integer(1),
      DEFAULTS.rpcSubscriptionTermsMax,
      { description: "Addresses and topics in the log filters of all subscriptions." },
    ),
    notificationQueueBytesMax: option(
      "json-rpc.notification-queue-limit",
      byteSize,
      DEFAULTS.rpcNotificationQueueBytesMax,
      {
        description:
          "Size of the events that wait to be sent; beyond it connections with the most subscriptions are cut.",
      },
    ),
    feeHistoryBlocksMax: option(
      "json-rpc.fee-history-limit",
      integer(1),
      DEFAULTS.rpcFeeHistoryBlocksMax,
      { description: "Blocks in one eth_feeHistory answer." },
    ),
  },
  /** As the JSON-RPC server takes them. */
  rpcLimits: {
    bodyBytesMax: option("json-rpc.body-limit", byteSize, DEFAULT_RPC_LIMITS.bodyBytesMax, {
      description: "Size of an HTTP request body or an IPC message.",
    }),
    wsMessageBytesMax: option(
      "json-rpc.ws-message-limit",
      byteSize,
      DEFAULT_RPC_LIMITS.wsMessageBytesMax,
      {
        description: "Size of a WebSocket message.",
      },
    ),
    batchItemsMax: option("json-rpc.batch-limit", integer(1), DEFAULT_RPC_LIMITS.batchItemsMax, {
      description: "Calls in one batch.",
    }),
    batchResponseBytesMax: option(
      "json-rpc.batch-response-limit",
      byteSize,
      DEFAULT_RPC_LIMITS.batchResponseBytesMax,
      {
        description:
          "Size of the answer to one batch; the calls after the one that exceeds it get an error.",
      },
    ),
    jsonDepthMax: option("json-rpc.depth-limit", integer(8), DEFAULT_RPC_LIMITS.jsonDepthMax, {
      description: "Levels of arrays and objects in a request.",
    }),
    jsonItemsMax: option("json-rpc.items-limit", integer(100), DEFAULT_RPC_LIMITS.jsonItemsMax, {
      description: "Values in a request; a member of an object counts as four.",
    }),
    idBytesMax: option("json-rpc.id-limit", byteSize, DEFAULT_RPC_LIMITS.idBytesMax, {
      description: "Size of a request's id.",
    }),
    methodNameCharsMax: option(
      "json-rpc.method-name-limit",
      integer(64),
      DEFAULT_RPC_LIMITS.methodNameCharsMax,
      {
        description: "Length of a method name.",
      },
    ),
    httpConnectionsMax: option(
      "json-rpc.connections-limit",
      integer(1),
      DEFAULT_RPC_LIMITS.httpConnectionsMax,
      {
        description: "Open HTTP connections.",
      },
    ),
    wsConnectionsMax: option(
      "json-rpc.ws-connections-limit",
      integer(1),
      DEFAULT_RPC_LIMITS.wsConnectionsMax,
      {
        description: "Open WebSocket connections.",
      },
    ),
    ipcConnectionsMax: option(
      "json-rpc.ipc-connections-limit",
      integer(1),
      DEFAULT_RPC_LIMITS.ipcConnectionsMax,
      {
        description: "Open IPC connections.",
      },
    ),
    httpHeadersTimeoutMs: option(
      "json-rpc.headers-timeout",
      duration,
      DEFAULT_RPC_LIMITS.httpHeadersTimeoutMs,
      {
        description: "Time a client has to send its request headers.",
      },
    ),
    messageTimeoutMs: option(
      "json-rpc.body-timeout",
      duration,
      DEFAULT_RPC_LIMITS.messageTimeoutMs,
      {
        description: "Time a client has to send an HTTP body, a WebSocket or an IPC message.",
      },
    ),
    httpReplyTimeoutMs: option(
      "json-rpc.reply-timeout",
      duration,
      DEFAULT_RPC_LIMITS.httpReplyTimeoutMs,
      {
        description: "Time an HTTP answer may take to be sent.",
      },
    ),
    httpIdleTimeoutMs: option(
      "json-rpc.idle-timeout",
      duration,
      DEFAULT_RPC_LIMITS.httpIdleTimeoutMs,
      {
        description: "How long an unused HTTP connection stays open.",
      },
    ),
    httpCallTimeoutMs: option(
      "json-rpc.call-timeout",
      duration,
      DEFAULT_RPC_LIMITS.httpCallTimeoutMs,
      {
        description: "Time the calls of one HTTP request may take together.",
      },
    ),
    wsPingIntervalMs: option(
      "json-rpc.ws-ping-interval",
      duration,
      DEFAULT_RPC_LIMITS.wsPingIntervalMs,
      {
        description: "Time between two pings of a WebSocket.",
      },
    ),
    socketCallsMax: option(
      "json-rpc.socket-calls-limit",
      integer(1),
      DEFAULT_RPC_LIMITS.socketCallsMax,
      {
        description: "Calls of one connection that run at the same time.",
      },
    ),
    callQueueMax: option("json-rpc.call-queue-limit", integer(1), DEFAULT_RPC_LIMITS.callQueueMax, {
      description: "Calls that run code or search and wait for their turn; more are rejected.",
    }),
    socketPauseBytes: option(
      "json-rpc.socket-pause-size",
      byteSize,
      DEFAULT_RPC_LIMITS.socketPauseBytes,
      {
        description: "Unsent bytes from which on nothing more is read from a connection.",
      },
    ),
    socketSendBufferBytesMax: option(
      "json-rpc.send-buffer-limit",
      byteSize,
      DEFAULT_RPC_LIMITS.socketSendBufferBytesMax,
      {
        description: "Unsent bytes of answers above which a further answer cuts the connection.",
      },
    ),
    notificationBufferBytesMax: option(
      "json-rpc.notification-buffer-limit",
      byteSize,
      DEFAULT_RPC_LIMITS.notificationBufferBytesMax,
      {
        description: "Unsent bytes of notifications at which a slow subscriber is cut.",
      },
    ),
    inputBytesMax: option(
      "json-rpc.input-memory-limit",
      byteSize,
      DEFAULT_RPC_LIMITS.inputBytesMax,
      {
        description:
          "Memory for requests of all connections that are being received or wait for their answers; beyond it the largest is rejected.",
      },
    ),
    outputBytesMax: option(
      "json-rpc.output-memory-limit",
      byteSize,
      DEFAULT_RPC_LIMITS.outputBytesMax,
      {
        description:
          "Memory for unsent answers and notifications of all connections; beyond it the slowest reader is cut.",
      },
    ),
  } satisfies Record<keyof RpcLimits, Option<number>>,
  access: ACCESS_SETTINGS,
  ipc: {
    enable: option("ipc.enable", boolean, true, {
      description:
        "Serve JSON-RPC on a socket file only this user can open; private methods need no token there.",
    }),
    path: option("ipc.path", text, "evmint.ipc", {
      description: "The socket file, seen from the home.",
    }),
  },
  evm: {
    compile: option("evm.compile", oneOf(["auto", "off"]), DEFAULTS.evmCompile, {
      description:
        "auto: contracts whose code uses much gas are compiled in a thread of their own and then run faster.",
    }),
    compileCacheBytesMax: option(
      "evm.compile-cache-size",
      byteSize,
      DEFAULTS.evmCompileCacheBytesMax,
      {
        description:
          "Memory of compiled contracts in a process; the least recently used are dropped.",
      },
    ),
    compileFilesBytesMax: option(
      "evm.compile-files-size",
      byteSize,
      DEFAULTS.evmCompileFilesBytesMax,
      {
        description:
          "Files of compiled contracts in the home's cache folder; the least recently used are removed.",
      },
    ),
  },
  consensus: {
    engine: option("consensus.engine", oneOf(["solo", "cometbft"]), "solo", {
      description:
        "Decides blocks: solo is one validator in this process, cometbft a network of validators.",
    }),
    blockTime: option(
      "consensus.block-time",
      blockTime,
      { intervalMs: DEFAULTS.blockTimeMs },
      {
        dev: "instant",
        description:
          "instant: a block as soon as a transaction is pending; manual: on demand; or the time between blocks. Below 1s several blocks share a timestamp, and other clients do not import such a chain.",
      },
    ),
    gasLimit: option("consensus.gas-limit", gas, DEFAULTS.blockGasLimit, {
      description: "Block gas limit the node moves towards, by at most 1/1024 a block.",
    }),
    feeRecipient: option("consensus.fee-recipient", address, ZERO_ADDRESS, {
      description: "Who receives the tips of blocks this node proposes.",
    }),
    clockJumpMsMax: option("consensus.clock-jump-limit", duration, DEFAULTS.clockJumpMs, {
      dev: DEFAULTS.clockJumpMsDev,
      description:
        "Forward jump of the clock that stops block production until the clock is confirmed or set right.",
    }),
    acceptClock: option("consensus.accept-clock", boolean, false, {
      description: "Make blocks although the clock jumped far forward or is after 2099.",
    }),
    quarantineBytesMax: option("consensus.quarantine-size", byteSize, DEFAULTS.quarantineBytesMax, {
      description: "File of the transactions that crashed the executor; the oldest make room.",
    }),
    extraData: option("consensus.extra-data", bytes(32), new Uint8Array(0), {
      description: "Bytes for the extraData field of blocks this node proposes.",
    }),
  },
  cometbft: COMETBFT_SETTINGS,
  snapshot: {
    interval: option("snapshot.interval", integer(0), DEFAULTS.snapshotInterval, {
      description:
        "Blocks between two snapshots of the state for new nodes (state sync); 0: none is taken. The newest two are stored: a new node has to find and fetch one in the time of two intervals.",
    }),
    restoreBytesMax: option(
      "snapshot.restore-size-limit",
      byteSize,
      DEFAULTS.snapshotRestoreBytesMax,
      {
        description:
          "Bytes, before compression, of a snapshot that a new node restores; a larger one is rejected. Restoring takes twenty to forty times as much memory.",
      },
    ),
  },
  /** Block 0 of a dev chain: these shape the chain at its first start; later they have to agree with it or be left out. */
  devChain: {
    chainId: option("dev.chain-id", unset(integer(1)), null, {
      description: "Chain id of a new dev chain: 31337 unless set.",
    }),
    accounts: option("dev.accounts", unset(integer(1, DEFAULTS.devAccountsMax)), null, {
      description: "Funded and unlocked accounts of a new dev chain: 10 unless set.",
    }),
    genesis: option("dev.genesis", unset(text), null, {
      description: "geth genesis file of a new dev chain, in place of the built-in one.",
    }),
    forkUrls: option("dev.fork-url", list, [], {
      description:
        "Nodes of a chain that a new dev chain continues: its state, blocks and logs are read from them, one after the other when one fails.",
    }),
    forkBlock: option("dev.fork-block", unset(integer(0)), null, {
      description: "Block that is continued: the newest unless set.",
    }),
    forkVerify: option("dev.fork-verify", oneOf(FORK_VERIFY_MODES), "auto", {
      description:
        "Whether accounts and slots of the continued chain must be proven (eth_getProof) under the state root of its block, and that block by its hash. auto: where its nodes serve proofs and its headers are Ethereum's; on: else the start fails; off: the nodes are believed.",
    }),
    forkCacheBytes: option("dev.fork-cache-size", byteSize, DEFAULTS.forkCacheBytes, {
      description:
        "Memory for what a forked chain has read of its remote one, and about the size of its file. What does not fit is read again.",
    }),
    predeploys: option("dev.predeploys", unset(list), null, {
      description: `Contracts of a new dev chain, at their public addresses: ${[...PREDEPLOYS.map(({ name }) => name), "none"].join(", ")}; all unless set.`,
    }),
    clientVersion: option("dev.client-version", unset(text), null, {
      description:
        "What web3_clientVersion answers on a dev chain, for tools that look for a name: Hardhat's network helpers run where it begins with hardhat or anvil.",
    }),
    artifacts: option("dev.artifacts", unset(text), null, {
      description:
        "Folder of Foundry's or Hardhat's artifacts: the log shows calls, events and errors of a dev chain by name, and the line of a revert.",
    }),
    loadState: option("dev.load-state", unset(text), null, {
      description: "File of anvil's format whose accounts a new dev chain has from its start.",
    }),
    dumpState: option("dev.dump-state", unset(text), null, {
      description: "File that gets the dev chain's accounts in anvil's format when the node stops.",
    }),
    stateIntervalMs: option("dev.state-interval", unset(duration), null, {
      description:
        "Time after which the file of dev.dump-state is written again while the node runs.",
    }),
    inMemory: option("dev.in-memory", boolean, false, {
      description:
        "The dev chain is in memory: a new one at each start, of which nothing is written to disk.",
    }),
  },
  index: {
    addresses: option("index.addresses", boolean, false, {
      // It takes some 150 bytes and a part of a millisecond for each transaction.
      dev: true,
      description: "Index transactions by the addresses they have to do with, for ots methods.",
    }),
  },
  docs: {
    enable: option("docs.enable", boolean, false, {
      dev: true,
      description: "Serve the documentation at the HTTP port under /docs.",
    }),
  },
  explorer: {
    enable: option("explorer.enable", boolean, false, {
      dev: true,
      description: "Serve the block explorer at the HTTP port under /explorer.",
    }),
  },
  les: LES_SETTINGS,
  shh: SHH_SETTINGS,
  cache: {
    bytes: option("cache.size", byteSize, CACHE_BYTES, {
      description:
        "Memory for what was read of the chain: half for nodes of the state trie, 20 % for accounts and slots, 20 % for blocks, 10 % for code. Each RPC thread or process has up to 128 MiB of its own.",
    }),
  },
  state: {
    history: option("state.history", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description: "Newest states that can be read, archive: those of all stored blocks.",
    }),
    proofs: option("state.proofs", retainedBlocks(DEFAULTS.retainedBlocksMin), null, {
      description: "Newest states that can be proven, archive: all that can be read.",
    }),
  },
  keystore: {
    strength: option("keystore.strength", oneOf(["standard", "light"]), "standard", {
      description:
        "Cost of guessing a passphrase: standard takes 256 MiB and a second a try, light 4 MiB and a tenth.",
    }),
    allowReadableByOthers: option("keystore.allow-readable-by-others", boolean, false, {
      description: "Open key files that other users of this machine can read.",
    }),
    ...KEY_STORE_LIMITS,
  },
  ...SECURITY_SETTINGS,
  log: {
    level: option("log.level", oneOf(LOG_LEVELS), "info", {
      description: "Least important lines that are written.",
    }),
    format: option("log.format", oneOf(["auto", "text", "json"]), "auto", {
      description: "auto: text on a terminal, one JSON object a line elsewhere.",
    }),
  },
  metrics: {
    enable: option("metrics.enable", boolean, false, {
      description: "Serve metrics for Prometheus under /metrics.",
    }),
    address: option("metrics.address", hostPort, DEFAULTS.metricsAddress, {
      description: "Where metrics listen.",
    }),
  },
} as const;

/** Every setting in a row. */
export const OPTIONS: readonly Option<unknown>[] = Object.values(SCHEMA).flatMap(
  (group) => Object.values(group) as Option<unknown>[],
);

/** `json-rpc.ws-address` is `EVMINT_JSON_RPC_WS_ADDRESS` in the environment. */
export function environmentName(key: string): string {
  return `EVMINT_${key.replace(/[.-]/g, "_").toUpperCase()}`;
}
