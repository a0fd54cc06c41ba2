/** What methods are for whose declaration has no comment of its own: other names of a method, and those that are made of a table. */
export const TEXTS: Readonly<Record<string, string>> = {
  admin_startHTTP: "The name that `admin_startRPC` has in geth since 1.10.",
  admin_stopHTTP: "The name that `admin_stopRPC` has in geth since 1.10.",
  anvil_getAutomine: "Whether transactions are mined on arrival.",
  anvil_setRpcUrl: "Reads the forked chain from another node of the same chain; fails without a fork.",
  hardhat_setRpcUrl: "Reads the forked chain from another node of the same chain; fails without a fork.",
  debug_subscribe:
    "Subscribes to `traceChain` with first and last block and a tracer, over WebSocket or IPC. Each block gives a notification with the traces of its transactions.",
  debug_unsubscribe: "Ends a subscription of this connection; returns whether it existed.",
  eth_subscribe:
    "Subscribes to `newHeads`, `logs` (second parameter: criteria of `eth_getLogs`), `newPendingTransactions` (second parameter true: full transactions), `transactionReceipts` or `syncing`, over WebSocket or IPC. Returns the id that notifications carry.",
  eth_unsubscribe: "Ends a subscription of this connection; returns whether it existed.",
  erigon_getBlockReceiptsByBlockHash: "As `eth_getBlockReceipts`, the block by its hash.",
  erigon_getHeaderByHash: "As `eth_getHeaderByHash`.",
  erigon_getHeaderByNumber: "As `eth_getHeaderByNumber`.",
  erigon_getLogs: "As `eth_getLogs`.",
  eth_getTransactionbyBlockNumberAndIndex:
    "As `eth_getTransactionByBlockNumberAndIndex`, which some clients write with a small b.",
};
