import { METHODS } from "../../src/rpc/methods/methods.ts";

/** What the chain under attack holds. */
export type Target = {
  readonly blockHash: string;
  readonly transactionHash: string;
  readonly account: string;
};

const CODE = `0x${"c0de".repeat(10)}`;
/** JUMPDEST PUSH0 JUMP: runs until its gas or its time is used up. */
const LOOP = { [CODE]: { code: "0x5b5f56" } };
const CALL = { to: CODE };
const word = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const words = (count: number) => Array.from({ length: count }, (_, i) => word(i));
const addresses = (count: number) =>
  Array.from({ length: count }, (_, i) => `0x${(i + 1).toString(16).padStart(40, "0")}`);
const WIDE_LOGS = {
  fromBlock: "0x0",
  toBlock: "latest",
  address: addresses(1000),
  topics: [words(1000), words(1000)],
};
const TRACE = { enableMemory: true, enableReturnData: true };

/** Worst legal parameters of methods whose cost depends on them. */
const WORST: Readonly<Record<string, (target: Target) => readonly unknown[]>> = {
  web3_sha3: () => [`0x${"ff".repeat(2_400_000)}`],
  eth_feeHistory: () => ["0x400", "latest", Array.from({ length: 100 }, (_, i) => i)],
  eth_getStorageValues: ({ account }) => [{ [account]: words(1024) }, "latest"],
  eth_getProof: ({ account }) => [account, words(1024), "latest"],
  eth_getBlockByNumber: () => ["latest", true],
  eth_getBlockByHash: ({ blockHash }) => [blockHash, true],
  eth_getBlockReceipts: ({ blockHash }) => [blockHash],
  eth_getTransactionByHash: ({ transactionHash }) => [transactionHash],
  eth_getTransactionReceipt: ({ transactionHash }) => [transactionHash],
  eth_call: () => [CALL, "latest", LOOP],
  eth_callMany: () => [[{ transactions: Array.from({ length: 10 }, () => CALL) }], { blockNumber: "latest" }, LOOP],
  eth_estimateGas: () => [CALL, "latest", LOOP],
  eth_createAccessList: () => [CALL, "latest", LOOP],
  eth_simulateV1: () => [
    {
      blockStateCalls: Array.from({ length: 8 }, (_, i) => ({
        ...(i === 0 && { stateOverrides: LOOP }),
        calls: [CALL],
      })),
    },
    "latest",
  ],
  eth_getLogs: () => [WIDE_LOGS],
  eth_newFilter: () => [WIDE_LOGS],
  erigon_getLatestLogs: () => [WIDE_LOGS, { logCount: 10_000, ignoreTopicsOrder: true }],
  debug_traceTransaction: ({ transactionHash }) => [transactionHash, TRACE],
  debug_traceBlockByNumber: () => ["latest", TRACE],
  debug_traceBlockByHash: ({ blockHash }) => [blockHash, TRACE],
  debug_traceCall: () => [CALL, "latest", { ...TRACE, stateOverrides: LOOP }],
  debug_traceCallMany: () => [[{ transactions: [CALL, CALL] }], null, { ...TRACE, stateOverrides: LOOP }],
};

/** Methods without a parameter that changes their cost. */
const CONSTANT: ReadonlySet<string> = new Set([
  "debug_chaindbProperty",
  "debug_dbAncients",
  "debug_discoveryV4Table",
  "debug_getBadBlocks",
  "debug_getTrieFlushInterval",
  "erigon_forks",
  "erigon_cacheCheck",
  "debug_memStats",
  "debug_gcStats",
  "ots_getApiLevel",
  "web3_clientVersion",
  "net_version",
  "net_peerCount",
  "net_listening",
  "rpc_modules",
  "rpc_discover",
  "eth_protocolVersion",
  "eth_chainId",
  "eth_config",
  "eth_capabilities",
  "eth_syncing",
  "eth_blockNumber",
  "eth_coinbase",
  "eth_accounts",
  "eth_gasPrice",
  "eth_maxPriorityFeePerGas",
  "eth_baseFee",
  "eth_blobBaseFee",
  "eth_pendingTransactions",
  "eth_mining",
  "eth_hashrate",
  "eth_getWork",
  "eth_getCompilers",
  "eth_newBlockFilter",
  "shh_version",
  "les_latestCheckpoint",
  "les_serverInfo",
  "les_getCheckpointContractAddress",
  "clique_proposals",
  "clique_status",
  "txpool_content",
  "txpool_inspect",
  "txpool_status",
]);

const EXAMPLES = new Map(METHODS.map(({ name, example }) => [name, example]));

/**
 * The worst legal parameters of a public method: of its own, or an example's where the size of a parameter changes nothing.
 * undefined: somebody has to think about this method first.
 */
export function worstInput(method: string, target: Target): readonly unknown[] | undefined {
  return WORST[method]?.(target) ?? (CONSTANT.has(method) ? [] : EXAMPLES.get(method));
}
