/**
 * Every bound of JSON-RPC; units end the names. Those that operators turn are settings (`json-rpc.*`), with their defaults in
 * `RPC_DEFAULTS`. All others are fixed: a value with a reason, which only tests change.
 */

/** Defaults of the server's settings. */
export const RPC_DEFAULTS = {
  /** An HTTP body, a WebSocket or an IPC message; geth's bound, and ten times the largest blob-free transaction batch seen in practice. */
  bodyBytesMax: 5 * 2 ** 20,
  batchItemsMax: 1000,
  httpConnectionsMax: 1000,
} as const;

/** Requests, answers and connections of the JSON-RPC server. */
export const SERVER_LIMITS = {
  /** `result` and `error` of one batch; the item that passes it is still answered, those after it get an error. geth's. */
  batchResponseBytesMax: 25_000_000,
  /** Levels of a request. JSON.parse survives millions of them, JSON.stringify does not. No parameter of ours nests deeper than ten. */
  jsonDepthMax: 64,
  /**
   * Values of a request: commas, opening brackets and three for each member. 16 MB of `{"a":1}` would become 600 MB of heap,
   * 200,000 names take 100 ms.
   */
  jsonItemsMax: 200_000,
  /** Of a request's id: it is echoed, so it costs twice. */
  idBytesMax: 1024,
  /** The longest name of a method has 42; an error repeats the caller's. */
  methodNameCharsMax: 2048,
  /** Programs of this user; each has one or two. */
  ipcConnectionsMax: 100,
  /** Open WebSockets: subscribers, which cost little while nothing happens. */
  wsConnectionsMax: 10_000,
  /** The headers of a request: a browser sends the cookies of all programs of its machine. */
  httpHeadersBytesMax: 64 << 10,
  /** Time for the headers of a request. */
  httpHeadersTimeoutMs: 10_000,
  /** From the first byte of an HTTP body, a WebSocket or an IPC message to its last. */
  messageTimeoutMs: 30_000,
  /** Time an HTTP answer may take to be sent. */
  httpReplyTimeoutMs: 30_000,
  /** The calls of one HTTP request together; just below the reply timeout, so that the answer still gets out. */
  httpCallTimeoutMs: 29_900,
  /**
   * Time for one source of the Solidity compiler, just below that of the request. Most take less than the second or two that loading takes,
   * ten times as long on a busy machine; an optimizer may run for ever.
   */
  compileTimeoutMs: 29_000,
  /** How long an unused HTTP connection stays open: longer than the 60 s of usual proxies, which must be the ones that close it. */
  httpIdleTimeoutMs: 120_000,
  /** Between two pings of a WebSocket; one that answered none in this time is closed. */
  wsPingIntervalMs: 30_000,
  /** Calls of one connection that run at the same time; beyond it nothing more is read from the socket. */
  socketCallsMax: 128,
  /** Heavy calls of all connections that wait for their turn: a packet of calls from each of a hundred clients. More are rejected. */
  callQueueMax: 10_000,
  /** Unsent bytes above which nothing more is read from a WebSocket or IPC connection. */
  socketPauseBytes: 2 ** 20,
  /** Unsent bytes of answers above which a further one cuts the connection: the last one may be as large as its own limit. */
  socketSendBufferBytesMax: 32 * 2 ** 20,
  /** Unsent bytes of notifications at which a subscriber is cut: it does not read. */
  notificationBufferBytesMax: 2 ** 20,
  /**
   * Requests of all connections while they are received or wait for their answers, text and parsed values: fifty of the largest
   * bodies, or a quarter of a million usual calls. Beyond it the largest is rejected.
   */
  inputBytesMax: 256 * 2 ** 20,
  /** Answers to batches that still run, and what the clients of all connections have not read: five of the largest batch answers. */
  outputBytesMax: 128 * 2 ** 20,
} as const;

/** What the server is built with: settings and fixed bounds. */
export type RpcLimits = {
  readonly [Name in keyof typeof RPC_DEFAULTS | keyof typeof SERVER_LIMITS]: number;
};

/** Those of a server that nobody configured. */
export const DEFAULT_RPC_LIMITS: RpcLimits = { ...RPC_DEFAULTS, ...SERVER_LIMITS };

/** Bad tokens from one address. */
export const TOKEN_LIMITS = {
  /** Within a minute: a program with the right secret sends no bad token, and one with a wrong clock sends nothing else. */
  badTokensMax: 10,
  /** Longest wait after them; it begins with a second and doubles. */
  pauseMsMax: 30_000,
} as const;

/** Processes that serve connections. */
export const PROCESS_LIMITS = {
  /** Between two beats: a process answers one in its next turn, which is some milliseconds away. */
  beatMs: 1_000,
  /** Beats in a row without an answer after which it is handed no connection: ten seconds with the one that is not answered first. */
  silentBeats: 9,
  /** Those after which it is ended and replaced: fifteen seconds. Calls that take longer run in threads. */
  lostBeats: 14,
  /** From its start until it serves connections; some 0.3 s. */
  startMs: 60_000,
  /** To open the index, for which the chain stands still: some milliseconds. A busy machine takes seconds, and would do so for the next process as well. */
  openMs: 5_000,
} as const;

/** Work and answer of one call. */
export const CALL_LIMITS = {
  /** EVM memory of an eth_call. 50 million gas pay for 5 MB; only calls without a gas cap come near this. */
  memoryBytesMax: 128 * 2 ** 20,
  /** Bytes an eth_call may return, also when it reverts; contracts return kilobytes, memory expansion can return gigabytes. */
  returnBytesMax: 2 ** 20,
  /** Time of a debug_trace call with all its transactions, unless it names another; geth's for one transaction. */
  traceTimeoutMs: 5_000,
  /** The longest time that a debug_trace call may name: a trace holds up other calls. */
  traceTimeoutMsMax: 60_000,
  /** All traces of one call: a node that traces stays within 300 MB of memory (bench/rpc/trace-memory.ts). */
  traceBytesMax: 96 * 2 ** 20,
  /**
   * Memory of a JavaScript tracer: a trace of 100,000 steps as objects; the engine itself needs 16 MiB. A thread runs at most four
   * scripts at once.
   */
  traceScriptMemoryBytesMax: 64 * 2 ** 20,
  /** Blocks of a trace_filter call, each of which is executed again; reth's. */
  traceFilterBlocksMax: 100,
  /** Size of an answer with logs. */
  logsBytesMax: 32_000_000,
  /** Blocks and index rows a search for logs may look at: three seconds of searching, in slices between which other work gets its turn. */
  logsWorkMax: 1_000_000,
  /** Addresses, and topics at one position, of a log filter; geth's. */
  filterTermsMax: 1000,
  /** Blocks of an eth_feeHistory answer; geth's. */
  feeHistoryBlocksMax: 1024,
  /** Transactions in a page of an ots method; Erigon's, and what Otterscan asks for. */
  otsPageSizeMax: 25,
  /** JSON of blocks and receipts: some 5,000 blocks of 200 transactions with full bodies. Never more than `cache.size`. */
  blockCacheBytesMax: 256 * 2 ** 20,
} as const;

/** What a dev chain's log executes again to say more of it: a transaction or call that takes longer has fewer lines. */
export const DETAIL_LIMITS = {
  /** As long as a trace may take unless its caller says otherwise. */
  transactionMs: 5_000,
  /** People look at the line of a call while it is printed. */
  callMs: 500,
} as const;

/** Filters that callers poll. */
export const FILTER_LIMITS = {
  /** Of all callers. They cost the caller nothing and live for minutes; each is a position in the chain with its criteria. */
  max: 10_000,
  /** Made over one WebSocket or IPC connection: ten times what the busiest of known clients installs. */
  maxPerConnection: 1_000,
  /** Addresses and topics of all: twenty in each of 10,000 filters, some 100 MB, as the filters of all subscriptions. */
  termsMax: 200_000,
  /** geth's: a filter nobody polled for this long belongs to a client that is gone. */
  idleMs: 5 * 60_000,
} as const;

/** Subscriptions of WebSocket and IPC connections. */
export const SUBSCRIPTION_LIMITS = {
  /** Of one connection; a wallet uses three. */
  maxPerConnection: 128,
  /** Of all connections: three for each of 10,000 WebSockets; a block header to all is 20 MB of notifications. */
  max: 30_000,
  /** Addresses and topics in the filters of all `logs` subscriptions; some 500 bytes each. */
  termsMax: 200_000,
  /**
   * Events that wait to be sent, each once for all its subscribers: ten of the largest blocks in full. Beyond it connections with
   * the most subscriptions are cut.
   */
  queueBytesMax: 64 * 2 ** 20,
  /** traceChain of all connections. Each keeps an execution thread and the traces of a block busy for as long as its client reads. */
  traceChainsMax: 4,
} as const;
