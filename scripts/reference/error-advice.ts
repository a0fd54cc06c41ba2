import type { ErrorCode } from "../../src/error-codes.ts";

/** What the JSON-RPC numbers mean and what a caller does about each. The errors page fails to generate where one is missing. */
export const NUMBERS: Readonly<Record<number, readonly [meaning: string, action: string]>> = {
  [-32700]: ["The body is not JSON.", "Send one JSON value in UTF-8."],
  [-32600]: [
    "JSON, but no JSON-RPC 2.0 request, or a batch that is too long.",
    "Send `jsonrpc`, `id`, `method` and `params`; split the batch (`json-rpc.batch-limit`).",
  ],
  [-32601]: [
    "The method does not exist, or its namespace is not open on this listener.",
    "`rpc_modules` lists the namespaces, [Methods](../rpc.md) the names; the operator opens one with `json-rpc.api`.",
  ],
  [-32602]: [
    "A parameter is missing, too many, or not of its form.",
    "The message names the parameter; compare with [Methods](../rpc.md).",
  ],
  [-32603]: [
    "The node failed: damaged data, a full disk, or a bug.",
    "Nothing for the caller. The operator reads the log: the error is there with its stable code.",
  ],
  [-32000]: [
    "The call was rejected. The text is geth's, and says why.",
    "Look for the stable code below; most are rules of transactions and the pool.",
  ],
  [-32001]: [
    "A private method without a credential.",
    "Send a token (`evmintd token`), or call over the IPC socket.",
  ],
  [-32002]: [
    "The calls of a request took longer than allowed together.",
    "Ask for less, or raise `json-rpc.call-timeout`.",
  ],
  [-32004]: [
    "This chain cannot answer the method: the engine that it needs is not the one in use.",
    "Do without it; `docs/compliance.md` says which chains have it.",
  ],
  [-32003]: ["The answers of a batch are too large together.", "Split the batch."],
  [-32005]: [
    "A bounded resource is taken, or a search is too large.",
    "Try again later; where `data` has `from` and `to`, ask for that range.",
  ],
  [-38026]: [
    "One request asks for more blocks, calls or entries than the method takes.",
    "Split the request.",
  ],
  [3]: [
    "The code reverted. `data` has the bytes of the revert.",
    "Decode `data` with the contract's ABI.",
  ],
  [4]: [
    "`eth_sendRawTransactionSync`: the transaction is in the pool and was not mined in time.",
    "`data` has its hash: wait for the receipt.",
  ],
  [4444]: [
    "The block, its state or its receipts are older than what this node stores.",
    "Ask an archive node, or import the blocks ([retention](../operations/retention.md)).",
  ],
};

/** Of the numbers of `eth_simulateV1`, which execution-apis defines. */
export const SIMULATION_NUMBERS = "-38010 to -38025";

/** Causes of codes that share one class, whose comment is of all of them. */
export const CAUSES: Readonly<Partial<Record<ErrorCode, string>>> = {
  POOL_ALREADY_KNOWN: "The transaction is in the pool or in a block already.",
  POOL_OVERSIZED_DATA: "The transaction is larger than the pool takes (128 KiB, blobs aside).",
  POOL_GAS_PRICE_BELOW_MINIMUM: "The price is below `minimum-gas-prices`, or the tip below 1 wei.",
  POOL_MISSING_SIDECAR: "A blob transaction came without its blobs.",
  POOL_SIDECAR_MISMATCH: "The blobs are not those that the transaction names.",
  POOL_WRONG_SIDECAR_FORMAT: "Blobs have proofs of another fork than the head's.",
  POOL_KZG_VERIFICATION_FAILED: "The proofs of the blobs do not verify.",
  POOL_DELEGATED_ACCOUNT_LIMIT:
    "An account with delegated code (EIP-7702) may have one transaction in the pool.",
  POOL_DELEGATED_NONCE_GAP: "An account with delegated code sends out of nonce order.",
  POOL_AUTHORITY_RESERVED: "An authorization is from an account that has transactions in the pool.",
  POOL_ADDRESS_RESERVED:
    "The sender has transactions of the other kind (with or without blobs) in the pool.",
  POOL_ACCOUNT_LIMIT_EXCEEDED:
    "The sender has as many transactions in the pool as one account may.",
  POOL_UNDERPRICED:
    "The pool is full, and the transaction pays no more than the cheapest one in it.",
  POOL_FULL: "The pool is full, and nothing in it may be evicted for this transaction.",
  POOL_FUTURE_REPLACES_PENDING:
    "The pool is full, and a transaction after a nonce gap must not evict an executable one.",
  POOL_REPLACEMENT_UNDERPRICED:
    "A transaction with this nonce is in the pool, and the new one does not raise both fees enough (`mempool.price-bump`).",
  TX_NONCE_MISMATCH_TOO_LOW: "The nonce was used already.",
  TX_NONCE_MISMATCH_TOO_HIGH:
    "The nonce is beyond the sender's next one, where a gap is not allowed.",
  TX_NONCE_IS_MAX: "The nonce is 2^64 - 1 (EIP-2681).",
  TX_GAS_LIMIT_EXCEEDS_MAXIMUM: "The gas limit is above 2^24 (EIP-7825).",
  TX_GAS_ALLOWANCE_EXCEEDED: "The gas limit is above that of a block.",
  TX_SENDER_NOT_EOA: "The sender has code (EIP-3607).",
  TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS: "`maxPriorityFeePerGas` is above `maxFeePerGas`.",
  TX_INSUFFICIENT_MAX_FEE_PER_GAS:
    "`maxFeePerGas` or `gasPrice` is below the base fee of the block.",
  TX_INSUFFICIENT_MAX_FEE_PER_BLOB_GAS:
    "`maxFeePerBlobGas` is below the blob base fee of the block.",
  TX_TYPE_3_TX_CONTRACT_CREATION: "A blob transaction must have a recipient.",
  TX_TYPE_3_TX_ZERO_BLOBS: "A blob transaction without blobs.",
  TX_TYPE_3_TX_BLOB_COUNT_EXCEEDED: "More blobs than one transaction may have.",
  TX_TYPE_3_TX_INVALID_BLOB_VERSIONED_HASH: "A blob hash does not begin with 0x01.",
  TX_TYPE_3_TX_MAX_BLOB_GAS_ALLOWANCE_EXCEEDED: "The block has no room for so many blobs.",
  TX_TYPE_4_TX_CONTRACT_CREATION: "A set-code transaction must have a recipient.",
  TX_TYPE_4_EMPTY_AUTHORIZATION_LIST: "A set-code transaction without authorizations.",
  TX_INITCODE_SIZE_EXCEEDED: "The init code is larger than 49,152 bytes (EIP-3860).",
  TX_INSUFFICIENT_ACCOUNT_FUNDS:
    "The balance does not cover value and gas limit times price, with that of waiting transactions of the sender.",
  TX_INSUFFICIENT_FUNDS_FOR_TRANSFER: "The balance does not cover the value.",
  TX_GASLIMIT_PRICE_PRODUCT_OVERFLOW: "Gas limit times price does not fit in 256 bits.",
  TX_INTRINSIC_GAS_TOO_LOW:
    "The gas limit is below what the transaction costs before any code runs.",
  TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST:
    "The gas limit is below the floor for its data (EIP-7623).",
  TX_INVALID_SENDER: "The signature gives no sender, or another than `from`.",
  TX_INVALID_CHAINID: "The transaction is signed for another chain id.",
};

/** What to do, by code or by what it begins with; the longest match counts. */
export const ACTIONS: Readonly<Record<string, string>> = {
  ABCI_: "Compare the versions of `evmintd` and `cometbft`, and the genesis files of the nodes.",
  ACCOUNT_LOCKED: "Unlock it (`personal_unlockAccount`), or sign outside of the node.",
  ACCOUNT_UNKNOWN: "`eth_accounts` lists the accounts of the node; sign others yourself.",
  ACCOUNT_: "The text says what is allowed.",
  ADDRESS_INDEX_BUILDING: "Try again; `evmint_address_index_blocks` shows how far it is.",
  ADDRESS_: "The operator sets `index.addresses` to true.",
  ADMIN_: "The text says why.",
  BROWSER_UNSUPPORTED: "Run it in Node: `evmintd`, or `createNode` of the package `evmint`.",
  BLOCK_PRUNED: "Ask an archive node.",
  BLOCK_STATE_PRUNED: "Ask an archive node.",
  BLOCK_: "The block cannot be imported: it is of another chain or a wrong client made it.",
  CALL_: "Correct the arguments of the call.",
  CHAIN_BUSY: "Try again after it.",
  CLIQUE_: "See [validators](../operations/network.md).",
  CLOCK_: "Set the clock right (NTP); see `evmintd doctor`.",
  CONSENSUS_: "The log of the node says why; see [validators](../operations/network.md).",
  COMETBFT_: "Install CometBFT, or set `cometbft.binary`.",
  DAPP_: "Write a value first.",
  DEBUG_: "The text says what the method needs.",
  DEV_: "The text says what is possible.",
  ENGINE_: "See [validators](../operations/network.md).",
  ESTIMATE_: "Call it with `eth_call` to see why it fails.",
  EXECUTION_REVERTED: "Decode `data` with the contract's ABI.",
  EXECUTION_TIMEOUT: "Ask for less, or raise `json-rpc.evm-timeout`.",
  EXECUTION_ABORTED: "Ask for less; the log of the node has the reason.",
  EXECUTION_: "Trace the call (`debug_traceCall`) to see where it ends.",
  FORK_: "Check `dev.fork-url`: the remote node must answer, with the state of the fork's block.",
  IMPORT_: "The file must continue this chain.",
  INVALID_: "Correct the value.",
  KEY_DERIVATION_BUSY: "Try again in some seconds.",
  KEY_TOO_MANY_TRIES: "Wait a minute before the next passphrase.",
  KEY_: "The text says what is wrong with the key or its file.",
  LES_: "The text is geth's; see the methods of [les](../rpc.md#les).",
  MINER_: "Use the setting that the text names.",
  POOL_JOURNAL_WRITE: "The operator frees disk space.",
  POOL_ALREADY_KNOWN: "Nothing: wait for its receipt.",
  POOL_ACCOUNT_LIMIT_EXCEEDED: "Wait for blocks, or raise `mempool.account-slots`.",
  POOL_DELEGATED_: "Wait for the transaction before.",
  POOL_AUTHORITY_RESERVED: "Wait for the account's transactions.",
  POOL_ADDRESS_RESERVED: "Wait for the sender's transactions.",
  POOL_MISSING_SIDECAR: "Send the transaction in its network form, with blobs and proofs.",
  POOL_SIDECAR_MISMATCH: "Compute the hashes from the blobs that are sent.",
  POOL_WRONG_SIDECAR_FORMAT: "Send cell proofs (EIP-7594) after Osaka, blob proofs before.",
  POOL_KZG_: "Compute the proofs again.",
  POOL_BLOB_QUEUE_FULL: "Try again in some seconds.",
  POOL_PEER_QUEUE_FULL: "Nothing: peers announce the transaction again.",
  POOL_OVERSIZED_DATA: "Split the data over several transactions.",
  POOL_QUARANTINED: "Report it: its input is in `data/quarantine/` of the node.",
  POOL_: "Raise the fees.",
  RLP_: "Encode the transaction or block again.",
  RPC_UNAUTHORIZED: "Send a token, or use the IPC socket.",
  RPC_TOO_MANY: "Uninstall filters, end subscriptions, or try again later.",
  RPC_LOG_LIMIT: "Ask for the range in `data`.",
  RPC_TIMEOUT: "Ask for less at once.",
  RPC_RESPONSE_TOO_LARGE: "Split the batch.",
  RPC_FILTER_NOT_FOUND: "Install it again: filters end five minutes after their last poll.",
  RPC_UNKNOWN_BLOCK: "Check number or hash against `eth_blockNumber`.",
  RPC_FEE_CAP_EXCEEDED: "Lower the fee, or raise `json-rpc.fee-cap`.",
  RPC_UNPROTECTED_TRANSACTION:
    "Sign with the chain id (EIP-155), or set `json-rpc.allow-unprotected-txs`.",
  RPC_CHAIN_UNREACHABLE: "The node stops or was killed: connect again.",
  RPC_COMPILER: "Correct the source; for Solidity install the npm package `solc`.",
  RPC_PENDING_UNAVAILABLE: "The operator reads the log.",
  RPC_: "Correct the request.",
  SHH_: "The text says what is wrong with the message or the peer.",
  SIMULATE_: "Correct the blocks or calls of the request.",
  STORE_DISK_FULL: "The operator frees disk space; blocks go on by themselves.",
  STORE_LOCKED: "Another process uses the home: stop it, or name another `--home`.",
  STORE_LOG_WRITE_FAILED: "Free disk space.",
  STORE_LOG_POISONED: "Look at the disk, then start the node again.",
  STORE_POISONED: "Look at the disk, then start the node again: it repairs the index.",
  STORE_CORRUPT_LOG: "Restore `data/log/` from a copy; `evmintd db check` names the block.",
  STORE_NATIVE_MISSING: "Install the package `lmdb`: npm leaves it out with `--omit=optional`.",
  STORE_: "Stop the node and run `evmintd db check`, then `evmintd reindex`.",
  TRACE_TIMEOUT: "Name a longer `timeout`, up to `json-rpc.trace-timeout-limit`.",
  TRACE_TOO_LARGE: "Leave out memory and storage, set `limit`, or use `callTracer`.",
  TRACE_: "The text names the tracer or the transaction at fault.",
  TRIE_: "Ask for a newer block, or an archive node.",
  TX_NONCE_MISMATCH_: 'Take the nonce from `eth_getTransactionCount(address, "pending")`.',
  TX_INSUFFICIENT_MAX_FEE_: "Take the fees from `eth_feeHistory` or `eth_gasPrice`.",
  TX_INSUFFICIENT_: "Fund the account, or lower value or gas limit.",
  TX_INTRINSIC_GAS_: "Take the gas limit from `eth_estimateGas`.",
  TX_GAS_: "Lower the gas limit.",
  TX_INVALID_CHAINID: "Sign for the id of `eth_chainId`.",
  TX_: "Correct the transaction and sign it again.",
  WALLET_: "`personal_listWallets` lists the wallets.",
};
