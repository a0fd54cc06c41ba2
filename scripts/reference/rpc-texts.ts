/** What methods are for whose declaration has no comment of its own: other names of a method, and those that are made of a table. */
export const TEXTS: Readonly<Record<string, string>> = {
  admin_startHTTP: "The name that `admin_startRPC` has in geth since 1.10.",
  admin_stopHTTP: "The name that `admin_stopRPC` has in geth since 1.10.",
  anvil_getAutomine: "Whether a transaction is mined as soon as it arrives.",
  anvil_setRpcUrl: "Reads the forked chain through another node of it; an error where nothing is forked.",
  hardhat_setRpcUrl: "Reads the forked chain through another node of it; an error where nothing is forked.",
  debug_subscribe:
    "`traceChain`, first and last block, and a tracer: a notification for each block with the traces of its transactions. For WebSocket and IPC.",
  debug_unsubscribe: "Ends a subscription of this connection; whether there was one.",
  eth_subscribe:
    "Notifies the caller: of `newHeads`, `logs` (with the criteria of `eth_getLogs` as second parameter), `newPendingTransactions` (true as second parameter: whole transactions), `transactionReceipts` or `syncing`. For WebSocket and IPC; the result is the id that notifications name.",
  eth_unsubscribe: "Ends a subscription of this connection; whether there was one.",
  erigon_getBlockReceiptsByBlockHash: "As `eth_getBlockReceipts`, the block by its hash.",
  erigon_getHeaderByHash: "As `eth_getHeaderByHash`.",
  erigon_getHeaderByNumber: "As `eth_getHeaderByNumber`.",
  erigon_getLogs: "As `eth_getLogs`.",
  eth_getTransactionbyBlockNumberAndIndex:
    "As `eth_getTransactionByBlockNumberAndIndex`, which some clients write with a small b.",
};
