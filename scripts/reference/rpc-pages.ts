/** The pages of docs/rpc/: which method is on which, those that are needed first before the others. */

export type RpcPage = {
  /** Without folder and `.md`. */
  readonly file: string;
  readonly title: string;
  /** What is on it, for the list of pages. */
  readonly about: string;
  /** Markdown below the title. */
  readonly intro?: string;
  /** Names in order, or patterns that take what no earlier entry of any page has, in order of their names. */
  readonly methods: readonly (string | RegExp)[];
};

const DEV_INTRO = `These methods exist only on a dev chain. A call has the names that anvil, Hardhat, ganache and Tenderly give it; names with the same behaviour share one description, under the first name. Whole numbers may be JSON numbers, decimal text or QUANTITY. [Contract tests](../testing.md) shows them in tests.`;

export const RPC_PAGES: readonly RpcPage[] = [
  {
    file: "eth-chain",
    title: "Chain and node",
    about: "chain id, accounts, sync, versions, open namespaces",
    methods: [
      "eth_chainId",
      "eth_blockNumber",
      "eth_accounts",
      "eth_syncing",
      "net_version",
      "web3_clientVersion",
      "eth_coinbase",
      /^net_/,
      /^web3_/,
      /^rpc_/,
      "eth_config",
      "eth_capabilities",
      "eth_protocolVersion",
      /^eth_(?:mining|hashrate|getWork|submit\w+)$/,
      /^eth_(?:getCompilers|compile\w+)$/,
    ],
  },
  {
    file: "eth-state",
    title: "Accounts and state",
    about: "balances, nonces, code, storage, proofs, names of contracts",
    methods: [
      "eth_getBalance",
      "eth_getTransactionCount",
      "eth_getCode",
      "eth_getStorageAt",
      "eth_getStorageValues",
      "eth_getProof",
      /^eth_getAccount/,
      "eth_getKnownContracts",
      "eth_findContracts",
    ],
  },
  {
    file: "eth-blocks",
    title: "Blocks",
    about: "blocks, headers, receipts of a block, uncles",
    methods: [
      "eth_getBlockByNumber",
      "eth_getBlockByHash",
      "eth_getBlockReceipts",
      "eth_getBlockAccessList",
      /^eth_getHeader/,
      /^eth_getBlock/,
      /^eth_getUncle/,
    ],
  },
  {
    file: "eth-transactions",
    title: "Transactions",
    about: "send, sign, look up, wait for a receipt; the pool",
    methods: [
      "eth_sendRawTransaction",
      "eth_sendTransaction",
      "eth_getTransactionReceipt",
      "eth_getTransactionLogs",
      "eth_getTransactionByHash",
      "eth_sendRawTransactionSync",
      "eth_fillTransaction",
      "eth_signTransaction",
      "eth_resend",
      "eth_pendingTransactions",
      /^eth_getTransaction/,
      /^eth_getRawTransaction/,
      /^txpool_/,
    ],
  },
  {
    file: "eth-calls",
    title: "Calls, gas and fees",
    about: "calls, estimates, simulation, access lists, prices",
    methods: [
      "eth_call",
      "eth_estimateGas",
      "eth_gasPrice",
      "eth_maxPriorityFeePerGas",
      "eth_feeHistory",
      "eth_baseFee",
      "eth_blobBaseFee",
      "eth_createAccessList",
      "eth_simulateV1",
      "eth_callMany",
    ],
  },
  {
    file: "eth-logs",
    title: "Logs, filters, subscriptions",
    about: "events of contracts, filters that are polled, notifications",
    methods: [
      "eth_getLogs",
      "eth_subscribe",
      "eth_unsubscribe",
      "eth_newFilter",
      "eth_getFilterChanges",
      /^eth_\w*Filter/,
    ],
  },
  {
    file: "wallet",
    title: "Signatures and wallets",
    about: "signed texts and typed data, what a page asks of a wallet",
    methods: ["eth_requestAccounts", "eth_signTypedData_v4", "eth_sign", "eth_signTypedData", /^wallet_/],
  },
  {
    file: "dev-blocks",
    title: "Dev chain: blocks and time",
    about: "mine, snapshots, reorgs, the clock, fees of the next block",
    intro: DEV_INTRO,
    methods: [
      /_mine$/,
      "evm_snapshot",
      "anvil_snapshot",
      "evm_revert",
      "anvil_revert",
      /_increaseTime$/,
      /_setNextBlockTimestamp$/,
      /_setTime$/,
      /_setAutomine$/,
      /_setIntervalMining$/,
      /_setNextBlockBaseFeePerGas$/,
      /_setBlockGasLimit$/,
      /_setCoinbase$/,
      /_setPrevRandao$/,
      /_setNextSlotNumber$/,
      "anvil_rollback",
      "anvil_reorg",
      /_mine_detailed$/,
      "hardhat_intervalMine",
      /BlockTimestampInterval$/,
      /_setMinGasPrice$/,
      /_get(?:Automine|IntervalMining|GenesisTime)$/,
    ],
  },
  {
    file: "dev-accounts",
    title: "Dev chain: accounts and state",
    about: "balances, code, storage, tokens, impersonation, the pool, resets, forks",
    intro: DEV_INTRO,
    methods: [
      /_set(?:Account)?Balance$/,
      /_impersonateAccount$/,
      /_stopImpersonatingAccount$/,
      /_autoImpersonateAccount$/,
      /_set(?:Account)?Code$/,
      /_set(?:Account)?StorageAt$/,
      /_set(?:Account)?Nonce$/,
      /_deal[Ee][Rr][Cc]20$/,
      /_set[Ee][Rr][Cc]20Allowance$/,
      /^(?!les)\w+_addBalance$/,
      "eth_sendUnsignedTransaction",
      "eth_sendTransactionSync",
      /_reset$/,
      /_setRpcUrl$/,
      /_dumpState$/,
      /_loadState$/,
      /_drop\w*Transactions?$/,
      /_removePoolTransactions$/,
      /_metadata$/,
      "anvil_nodeInfo",
      /_setLoggingEnabled$/,
      "anvil_setChainId",
    ],
  },
  {
    file: "debug-traces",
    title: "Traces: debug",
    about: "geth's tracers, of transactions, blocks and calls",
    methods: [
      "debug_traceTransaction",
      "debug_traceCall",
      /^debug_traceBlock/,
      /^debug_traceCall/,
      /^debug_\w*[tT]race(?!\w*GoTrace)\w*Block/,
      "debug_intermediateRoots",
      /^debug_(?:un)?subscribe$/,
    ],
  },
  {
    file: "trace",
    title: "Traces: trace",
    about: "the trace methods of OpenEthereum and Erigon",
    methods: ["trace_transaction", "trace_block", "trace_filter", "trace_call", /^trace_/],
  },
  {
    file: "debug-data",
    title: "Raw data: debug",
    about: "encoded blocks, dumps of states, witnesses, the store",
    methods: [
      /^debug_getRaw/,
      /^debug_(?:getBlockRlp|getHeaderRlp|printBlock|seedHash)$/,
      /^debug_(?:accountRange|dumpBlock|storageRangeAt|getModified\w+|preimage|stateSize|getAccessibleState)$/,
      /^debug_executionWitness/,
      "debug_getBadBlocks",
      "debug_setHead",
      /^debug_(?:db|chaindb)/,
      /TrieFlushInterval$/,
    ],
  },
  {
    file: "debug-process",
    title: "The process: debug",
    about: "profiles, memory, stacks, what is logged",
    intro: "Files that these methods write are in the folder `debug` of the home.",
    methods: ["debug_verbosity", "debug_vmodule", "debug_backtraceAt", /^debug_(?!freezeClient)/],
  },
  { file: "ots", title: "Otterscan: ots", about: "what the explorer Otterscan asks for", methods: [/^ots_/] },
  { file: "erigon", title: "erigon", about: "Erigon's own methods", methods: [/^erigon_/] },
  {
    file: "personal",
    title: "Keys: personal",
    about: "accounts of the node, signatures by passphrase, HD wallets",
    methods: ["personal_newAccount", "personal_unlockAccount", "personal_sign", /^personal_/],
  },
  {
    file: "admin",
    title: "The node: admin, miner",
    about: "readiness, peers, listeners, export and import, settings of blocks",
    methods: ["admin_nodeInfo", "admin_readiness", "admin_peers", /Peer$/, /^admin_/, /^miner_set/, /^miner_/],
  },
  {
    file: "clique",
    title: "Validators: clique",
    about: "signers, votes about validators, rules and forks, light blocks",
    methods: ["clique_getSigners", "clique_status", "clique_propose", "clique_proposals", "clique_discard", /^clique_/],
  },
  {
    file: "testing",
    title: "Blocks by hand: testing",
    about: "a block of given transactions",
    methods: [/^testing_/],
  },
  {
    file: "les",
    title: "Light clients: les",
    about: "checkpoints, header proofs, capacities of clients",
    methods: [/^les_/, "debug_freezeClient"],
  },
  { file: "shh", title: "Whisper: shh", about: "encrypted messages between nodes", methods: ["shh_post", /^shh_/] },
  { file: "db", title: "Texts: db", about: "a small store of texts and bytes", methods: [/^db_/] },
];

/**
 * The methods of each page, in the order in which it shows them.
 * @throws Error when a name is on no page
 */
export function methodsByPage(names: readonly string[]): ReadonlyMap<RpcPage, readonly string[]> {
  const literal = new Set(RPC_PAGES.flatMap(({ methods }) => methods.filter((each) => typeof each === "string")));
  const left = new Set(names);
  const take = (entry: string | RegExp): string[] => {
    const found =
      typeof entry === "string"
        ? [entry].filter((name) => left.has(name))
        : [...left].filter((name) => entry.test(name) && !literal.has(name)).sort();
    for (const name of found) left.delete(name);
    return found;
  };
  const pages = new Map(RPC_PAGES.map((page) => [page, page.methods.flatMap(take)]));
  if (left.size > 0) throw new Error(`scripts/reference/rpc-pages.ts has no page for ${[...left].join(", ")}`);
  return pages;
}
