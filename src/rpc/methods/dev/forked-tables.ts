/** Methods about the content of a block, by the index of the parameter that names it. */
export const OF_BLOCK: Readonly<Record<string, number>> = {
  eth_getBlockByNumber: 0,
  eth_getBlockByHash: 0,
  eth_getHeaderByNumber: 0,
  eth_getHeaderByHash: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getBlockTransactionCountByHash: 0,
  eth_getTransactionByBlockNumberAndIndex: 0,
  eth_getTransactionByBlockHashAndIndex: 0,
  eth_getRawTransactionByBlockNumberAndIndex: 0,
  eth_getRawTransactionByBlockHashAndIndex: 0,
  eth_getBlockAccessList: 0,
  eth_getUncleByBlockNumberAndIndex: 0,
  eth_getUncleByBlockHashAndIndex: 0,
  eth_getUncleCountByBlockNumber: 0,
  eth_getUncleCountByBlockHash: 0,
  debug_getRawBlock: 0,
  debug_getRawHeader: 0,
  debug_getRawReceipts: 0,
  debug_getRawBlockAccessList: 0,
  debug_intermediateRoots: 0,
  debug_storageRangeAt: 0,
  debug_traceBlockByNumber: 0,
  debug_traceBlockByHash: 0,
  trace_block: 0,
  trace_replayBlockTransactions: 0,
  ots_getBlockDetails: 0,
  ots_getBlockDetailsByHash: 0,
  ots_getBlockTransactions: 0,
  erigon_getHeaderByNumber: 0,
  erigon_getHeaderByHash: 0,
  erigon_getBlockReceiptsByBlockHash: 0,
  erigon_getLogsByHash: 0,
  erigon_getBalanceChangesInBlock: 0,
};

/** The same of the state after a block. The state after the forked one is this chain's: it has the funded accounts. */
export const OF_STATE: Readonly<Record<string, number>> = {
  eth_getAccount: 1,
  eth_getAccountInfo: 1,
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getStorageValues: 1,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_createAccessList: 1,
  eth_simulateV1: 1,
  debug_traceCall: 1,
  trace_call: 2,
  trace_callMany: 1,
  ots_hasCode: 1,
};

/** Methods about a transaction by its hash, which may be on either side of the fork. */
export const OF_TRANSACTION: ReadonlySet<string> = new Set([
  "eth_getTransactionByHash",
  "eth_getTransactionReceipt",
  "eth_getTransactionLogs",
  "eth_getRawTransactionByHash",
  "debug_getRawTransaction",
  "debug_traceTransaction",
  "trace_get",
  "trace_replayTransaction",
  "trace_transaction",
  "ots_getInternalOperations",
  "ots_getTransactionError",
  "ots_traceTransaction",
]);

/** Methods that look for a transaction: what this chain has not may be of the remote one. The result is it, its hash, or has that as `hash`. */
export const FINDS_TRANSACTION: ReadonlySet<string> = new Set([
  "eth_getTransactionBySenderAndNonce",
  "ots_getTransactionBySenderAndNonce",
  "ots_getContractCreator",
]);

/** Logs of a range of blocks, which two chains have. */
export const OF_LOG_RANGE: ReadonlySet<string> = new Set(["eth_getLogs", "erigon_getLogs"]);

/** Methods whose second parameter is `{blockNumber, transactionIndex}`. */
export const IN_CONTEXT: ReadonlySet<string> = new Set(["eth_callMany", "debug_traceCallMany"]);

/** Methods that execute a call, whose state is read ahead. */
export const PREFETCHED: ReadonlySet<string> = new Set([
  "eth_call",
  "eth_createAccessList",
  "eth_estimateGas",
  "eth_fillTransaction",
  "eth_sendRawTransaction",
  "eth_sendTransaction",
]);

/** Methods that read only the newest state: remote data is fetched while the chain's thread serves other calls. */
export const READING: ReadonlySet<string> = new Set([
  "eth_getAccount",
  "eth_getAccountInfo",
  "eth_getBalance",
  "eth_getCode",
  "eth_getStorageAt",
  "eth_getStorageValues",
  "eth_getTransactionCount",
  "ots_hasCode",
]);

/** Methods that need every account, every transaction of an address or every block: JSON-RPC does not provide them for another chain. */
export const UNSUPPORTED: ReadonlySet<string> = new Set([
  "debug_accountRange",
  "debug_dumpBlock",
  "debug_stateSize",
  "erigon_getBlockByTimestamp",
  "erigon_getLatestLogs",
  "ots_searchTransactionsAfter",
  "ots_searchTransactionsBefore",
]);
