/**
 * The methods that the pages call, and the only ones that `evmintd explorer` forwards: a node takes it for a local program, so it must not sign,
 * send or change anything for its visitors. Wallets sign in the browser, and send through their own node.
 */
export const FORWARDED_METHODS = [
  "clique_getLightBlock",
  "clique_getSigners",
  "clique_proposals",
  "clique_status",
  "debug_traceTransaction",
  "eth_call",
  "eth_chainId",
  "eth_compileStandardJson",
  "eth_findContracts",
  "eth_getBalance",
  "eth_getBlockAccessList",
  "eth_getBlockByHash",
  "eth_getBlockByNumber",
  "eth_getBlockReceipts",
  "eth_getCode",
  "eth_getCompilers",
  "eth_getKnownContracts",
  "eth_getLogs",
  "eth_getProof",
  "eth_getRawTransactionByBlockHashAndIndex",
  "eth_getStorageAt",
  "eth_getTransactionByHash",
  "eth_getTransactionCount",
  "eth_getTransactionReceipt",
  "net_listening",
  "net_peerCount",
  "ots_getContractCreator",
  "ots_searchTransactionsBefore",
  "txpool_content",
  "txpool_status",
  "web3_clientVersion",
] as const;

/** Methods that the page of a dev chain calls; `evmintd explorer` does not forward them, so its visitors cannot change the node. */
type DevMethod =
  | "anvil_addBalance"
  | "anvil_getAutomine"
  | "anvil_impersonateAccount"
  | "anvil_mine"
  | "anvil_stopImpersonatingAccount"
  | "eth_accounts"
  | "eth_sendTransaction"
  | "evm_increaseTime"
  | "evm_mine"
  | "evm_revert"
  | "evm_setAutomine"
  | "evm_snapshot"
  | "hardhat_metadata";

/** Only the operator should see peers: the page shows them only if the node itself serves it. */
export type PageMethod = (typeof FORWARDED_METHODS)[number] | DevMethod | "admin_peers";

/** Calls per batch: below the limit of every known client. */
export const BATCH_MAX = 100;

/** Tracers of the pages. Other names may be scripts, which a stranger must not run on the node. */
export const PAGE_TRACERS = ["callTracer", "prestateTracer"] as const;
