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
  /** Total size of `result` and `error` in one batch. The item that exceeds it is still answered, later items get an error; as in geth. */
  batchResponseBytesMax: 25_000_000,
  /**
   * Nesting depth of a request. JSON.stringify overflows the stack on depths that JSON.parse accepts. No parameter nests deeper than ten.
   */
  jsonDepthMax: 64,
  /**
   * Values of a request: commas, opening brackets and three per member. 16 MB of `{"a":1}` would take 600 MB of heap; 200,000 names take
   * 100 ms.
   */
  jsonItemsMax: 200_000,
  /** Size of a request's id, which the answer repeats. */
  idBytesMax: 1024,
  /** Characters of a method name: the longest known one has 42, and errors repeat the name they received. */
  methodNameCharsMax: 2048,
  /** IPC connections; a program opens one or two. */
  ipcConnectionsMax: 100,
  /** Open WebSockets; idle subscribers cost little. */
  wsConnectionsMax: 10_000,
  /** Size of a request's headers: a browser sends the cookies of every local program. */
  httpHeadersBytesMax: 64 << 10,
  /** Time to receive the headers of a request. */
  httpHeadersTimeoutMs: 10_000,
  /** Time to receive an HTTP body, a WebSocket message or an IPC message. */
  messageTimeoutMs: 30_000,
  /** Time to send an HTTP answer. */
  httpReplyTimeoutMs: 30_000,
  /** Time for all calls of one HTTP request, just below the reply timeout so that the answer still arrives. */
  httpCallTimeoutMs: 29_900,
  /**
   * Time to compile one Solidity source, just below the request's time. Most take under two seconds, ten times as long on a busy machine;
   * an optimizer may never finish.
   */
  compileTimeoutMs: 29_000,
  /** Time an idle HTTP connection stays open: longer than the usual 60 s of proxies, so that the proxy closes it first. */
  httpIdleTimeoutMs: 120_000,
  /** Interval of WebSocket pings; the server closes a connection that has not answered the last one. */
  wsPingIntervalMs: 30_000,
  /** Concurrent calls of one connection; at this number the server stops reading from the socket. */
  socketCallsMax: 128,
  /** Heavy calls of all connections that wait for a thread: a hundred calls from each of a hundred clients. The server rejects more. */
  callQueueMax: 10_000,
  /** Unsent bytes above which the server stops reading from a WebSocket or IPC connection. */
  socketPauseBytes: 2 ** 20,
  /** Unsent bytes of answers above which a further answer closes the connection: the last answer may be as large as its own limit. */
  socketSendBufferBytesMax: 32 * 2 ** 20,
  /** Unsent bytes of notifications at which the server disconnects a subscriber that does not read. */
  notificationBufferBytesMax: 2 ** 20,
  /**
   * Requests of all connections in memory, as text and parsed values: fifty of the largest bodies, or a quarter of a million usual calls.
   * Beyond it the server rejects the largest.
   */
  inputBytesMax: 256 * 2 ** 20,
  /** Answers of running batches, and answers that clients of all connections have not read: five of the largest batch answers. */
  outputBytesMax: 128 * 2 ** 20,
} as const;

/** What the server is built with: settings and fixed bounds. */
export type RpcLimits = {
  readonly [Name in keyof typeof RPC_DEFAULTS | keyof typeof SERVER_LIMITS]: number;
};

/** The limits of a server without configuration. */
export const DEFAULT_RPC_LIMITS: RpcLimits = { ...RPC_DEFAULTS, ...SERVER_LIMITS };

/** Invalid tokens from one IP address. */
export const TOKEN_LIMITS = {
  /** Invalid tokens per minute. A program with the right secret sends none, unless its clock is wrong; then all are invalid. */
  badTokensMax: 10,
  /** Longest pause after these; it starts at one second and doubles. */
  pauseMsMax: 30_000,
} as const;

/** Processes that serve connections. */
export const PROCESS_LIMITS = {
  /** Interval of heartbeats, which a healthy process answers within milliseconds. */
  beatMs: 1_000,
  /** Consecutive missed heartbeats after which a process gets no new connections: ten seconds, counting the first one missed. */
  silentBeats: 9,
  /** Missed heartbeats after which the node replaces the process: fifteen seconds. Longer calls run on threads. */
  lostBeats: 14,
  /** Time for a process to start serving; it usually takes 0.3 s. */
  startMs: 60_000,
  /** To open the index, for which the chain stands still: some milliseconds. A busy machine takes seconds, and would do so for the next process as well. */
  openMs: 5_000,
} as const;

/** Work and answer size of one call. */
export const CALL_LIMITS = {
  /** EVM memory of an eth_call. 50 million gas buy 5 MB; only calls without a gas cap reach the limit. */
  memoryBytesMax: 128 * 2 ** 20,
  /** Return or revert data of an eth_call. Contracts return kilobytes, but expanded memory can return gigabytes. */
  returnBytesMax: 2 ** 20,
  /**
   * Time beyond a call's own limit after which its thread is ended. An execution notices its limit within about 20 ms of CPU time, which can take long on a busy machine.
   */
  threadGraceMs: 5_000,
  /** Default time limit of a debug_trace call with all its transactions; geth has it per transaction. */
  traceTimeoutMs: 5_000,
  /** Longest time limit that a debug_trace call may request: a trace delays other calls. */
  traceTimeoutMsMax: 60_000,
  /** Size of all traces of one call, with which a tracing node stays within 300 MB of memory (bench/rpc/trace-memory.ts). */
  traceBytesMax: 96 * 2 ** 20,
  /**
   * Memory of a JavaScript tracer: 100,000 steps as objects. The engine needs 16 MiB of it, and a thread runs at most four scripts at once.
   */
  traceScriptMemoryBytesMax: 64 * 2 ** 20,
  /** Blocks of a trace_filter call, which re-executes each of them; as in reth. */
  traceFilterBlocksMax: 100,
  /** Size of an answer that contains logs. */
  logsBytesMax: 32_000_000,
  /** Blocks and index rows that a log search may read: three seconds, in slices that let other work run. */
  logsWorkMax: 1_000_000,
  /** Addresses of a log filter, and topics at one position; as in geth. */
  filterTermsMax: 1000,
  /** Blocks of an eth_feeHistory answer; as in geth. */
  feeHistoryBlocksMax: 1024,
  /** Transactions per page of an ots method: as in Erigon, and the number Otterscan requests. */
  otsPageSizeMax: 25,
  /** Cached JSON of blocks and receipts: about 5,000 blocks of 200 full transactions. Never more than `cache.size`. */
  blockCacheBytesMax: 256 * 2 ** 20,
} as const;

/** Re-execution for the details in a dev chain's log; a slower transaction or call gets fewer lines. */
export const DETAIL_LIMITS = {
  /** Time for a transaction, equal to the default time limit of a trace. */
  transactionMs: 5_000,
  /** Time for a call, whose line people watch as it is printed. */
  callMs: 500,
} as const;

/** Filters that clients poll. */
export const FILTER_LIMITS = {
  /** Filters of all clients. A filter costs its client nothing, lives for minutes, and holds a chain position and criteria. */
  max: 10_000,
  /** Filters of one WebSocket or IPC connection: ten times as many as the busiest known client installs. */
  maxPerConnection: 1_000,
  /** Addresses and topics of all filters: twenty in each of 10,000, about 100 MB; as for subscriptions. */
  termsMax: 200_000,
  /** Time without a poll after which the node removes a filter; as in geth. */
  idleMs: 5 * 60_000,
} as const;

/** Subscriptions of WebSocket and IPC connections. */
export const SUBSCRIPTION_LIMITS = {
  /** Subscriptions of one connection; a wallet uses three. */
  maxPerConnection: 128,
  /** Subscriptions of all connections: three for each of 10,000 WebSockets. One block header sent to all is 20 MB of notifications. */
  max: 30_000,
  /** Addresses and topics in the filters of all `logs` subscriptions, about 500 bytes each. */
  termsMax: 200_000,
  /**
   * Unsent events, each stored once for all its subscribers: ten of the largest full blocks. Beyond it the server disconnects the clients
   * with the most subscriptions.
   */
  queueBytesMax: 64 * 2 ** 20,
  /**
   * traceChain subscriptions of all connections. Each occupies an execution thread and holds the traces of a block while its client reads.
   */
  traceChainsMax: 4,
} as const;
