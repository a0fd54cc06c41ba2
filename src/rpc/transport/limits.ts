/** Every bound of the JSON-RPC server. Units end the names; each can be set on its own. */
export type RpcLimits = { readonly [Name in keyof typeof DEFAULT_RPC_LIMITS]: number };

export const DEFAULT_RPC_LIMITS = {
  /** An HTTP body or IPC message; geth's bound, and ten times the largest blob-free transaction batch seen in practice. */
  bodyBytesMax: 5 * 1024 * 1024,
  wsMessageBytesMax: 5 * 1024 * 1024,
  batchItemsMax: 1000,
  /** `result` and `error` bytes of one batch; the item that passes it is still answered. */
  batchResponseBytesMax: 25_000_000,
  /** JSON.parse survives millions of levels, JSON.stringify does not. No parameter of ours nests deeper than ten. */
  jsonDepthMax: 64,
  /** Commas, opening brackets and three for each member: 16 MB of `{"a":1}` would become 600 MB of heap, 200,000 names take 100 ms. */
  jsonItemsMax: 200_000,
  /** Ids are echoed, so they cost twice. */
  idBytesMax: 1024,
  methodNameCharsMax: 2048,
  httpConnectionsMax: 1000,
  wsConnectionsMax: 10_000,
  ipcConnectionsMax: 100,
  httpHeadersTimeoutMs: 10_000,
  /** From the first byte of an HTTP body, a WebSocket or an IPC message to its last. */
  messageTimeoutMs: 30_000,
  httpReplyTimeoutMs: 30_000,
  httpIdleTimeoutMs: 120_000,
  /** The calls of one HTTP request together; just below the reply timeout, so that the answer still gets out. */
  httpCallTimeoutMs: 29_900,
  wsPingIntervalMs: 30_000,
  /** Calls of one connection that run at the same time; beyond it nothing more is read from the socket. */
  socketCallsMax: 128,
  /** Heavy calls of all connections that wait for their turn: a packet of calls from each of a hundred clients. */
  callQueueMax: 10_000,
  /** Unsent bytes above which nothing more is read from a WebSocket or IPC connection. */
  socketPauseBytes: 1024 * 1024,
  /** Unsent bytes of answers above which a further one cuts the connection: the last one may be as large as its own limit. */
  socketSendBufferBytesMax: 32 * 1024 * 1024,
  /** Unsent bytes of notifications at which a subscriber is cut: it does not read. */
  notificationBufferBytesMax: 1024 * 1024,
  /**
   * Requests of all connections while they are received or wait for their answers, text and parsed values: fifty of the largest
   * bodies, or a quarter of a million usual calls.
   */
  inputBytesMax: 256 * 1024 * 1024,
  /** Answers to batches that still run, and what the clients of all connections have not read: five of the largest batch answers. */
  outputBytesMax: 128 * 1024 * 1024,
} as const;
