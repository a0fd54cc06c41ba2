import type { ErrorCode } from "../../src/base/error-codes.ts";

/** What the JSON-RPC numbers mean and what a caller does about each. The errors page fails to generate where one is missing. */
export const NUMBERS: Readonly<Record<number, readonly [meaning: string, action: string]>> = {
  [-32700]: ["The body is not JSON.", "Send one JSON value in UTF-8."],
  [-32600]: [
    "The JSON is not a JSON-RPC 2.0 request, or the batch is too long.",
    "Send `jsonrpc`, `id`, `method` and `params`; split the batch (`json-rpc.batch-limit`).",
  ],
  [-32601]: [
    "The method does not exist, or its namespace is not open on this listener.",
    "`rpc_modules` lists the namespaces, [Methods](../rpc/README.md) the names; the operator opens one with `json-rpc.api`.",
  ],
  [-32602]: [
    "A parameter is missing, malformed or superfluous.",
    "The message names the parameter; compare with [Methods](../rpc/README.md).",
  ],
  [-32603]: [
    "The node failed: damaged data, a full disk, or a bug.",
    "Callers can do nothing. Operators find the error with its stable code in the log.",
  ],
  [-32000]: [
    "The call was rejected. The message is geth's and gives the reason.",
    "Look for the stable code below; most are rules of transactions and the pool.",
  ],
  [-32001]: [
    "A private method without a credential, or a block without an access list.",
    "Send a token (`evmintd token`), or call over the IPC socket; ask for a block from Amsterdam on.",
  ],
  [-32002]: ["The calls of one request together exceeded the time limit.", "Ask for less."],
  [-32004]: [
    "The method needs a different consensus engine than this chain uses.",
    "Not available on this chain; `docs/compliance.md` says which chains have it.",
  ],
  [-32003]: ["The answers of the batch exceed the size limit.", "Split the batch."],
  [-32005]: [
    "A limited resource is in use, or a search is too large.",
    "Try again later; if `data` has `from` and `to`, request that range.",
  ],
  [-38026]: ["One request asks for more blocks, calls or entries than the method takes.", "Split the request."],
  [3]: ["The code reverted. `data` has the revert data.", "Decode `data` with the contract's ABI."],
  [4]: [
    "`eth_sendRawTransactionSync`: the transaction is in the pool and was not mined in time.",
    "`data` has its hash: wait for the receipt.",
  ],
  [4902]: [
    "`wallet_switchEthereumChain`: the node does not have this chain (EIP-3326).",
    "Connect to a node of that chain.",
  ],
  [5700]: [
    "`wallet_sendCalls`: a required capability is not supported (EIP-5792).",
    "Mark it as `optional`, or omit it.",
  ],
  [5710]: ["`wallet_sendCalls`: the calls are for a different chain.", "Connect to a node of that chain."],
  [5720]: ["`wallet_sendCalls`: the bundle id is already in use.", "Omit `id`, or choose another one."],
  [5730]: [
    "`wallet_getCallsStatus`: the bundle id is unknown.",
    "Send the calls again; the node forgets bundles when it exits.",
  ],
  [5740]: ["`wallet_sendCalls`: too many calls.", "Split the bundle."],
  [5760]: [
    "`wallet_sendCalls`: the node cannot execute several calls atomically.",
    "Leave `atomicRequired` false, or call a contract that makes the calls.",
  ],
  [4444]: [
    "The block, its state or its receipts are older than the data this node stores.",
    "Ask an archive node, or import the blocks ([retention](../operations/retention.md)).",
  ],
};

/** Of the numbers of `eth_simulateV1`, which execution-apis defines. */
export const SIMULATION_NUMBERS = "-38010 to -38025";

/** Causes of codes that share one class, whose comment is of all of them. */
export const CAUSES: Readonly<Partial<Record<ErrorCode, string>>> = {
  EXECUTION_REVERTED: "The code reverted; `data` has the revert data.",
  POOL_ALREADY_KNOWN: "The transaction is already in the pool or in a block.",
  POOL_OVERSIZED_DATA: "The transaction exceeds the pool's size limit (128 KiB without blobs).",
  POOL_GAS_PRICE_BELOW_MINIMUM: "The price is below `minimum-gas-prices`, or the tip below 1 wei.",
  POOL_MISSING_SIDECAR: "A blob transaction came without its blobs.",
  POOL_SIDECAR_MISMATCH: "The blobs do not match the transaction's blob hashes.",
  POOL_WRONG_SIDECAR_FORMAT: "Blobs have proofs of another fork than the head's.",
  POOL_KZG_VERIFICATION_FAILED: "The proofs of the blobs do not verify.",
  POOL_DELEGATED_ACCOUNT_LIMIT: "An account with delegated code (EIP-7702) may have only one transaction in the pool.",
  POOL_DELEGATED_NONCE_GAP: "An account with delegated code sends out of nonce order.",
  POOL_AUTHORITY_RESERVED: "An authorization is from an account that has transactions in the pool.",
  POOL_ADDRESS_RESERVED: "The sender has transactions of the other kind (with or without blobs) in the pool.",
  POOL_ACCOUNT_LIMIT_EXCEEDED: "The sender has reached its limit of transactions in the pool.",
  POOL_UNDERPRICED: "The pool is full, and the transaction pays no more than the cheapest one in it.",
  TX_SENDER_NOT_ALLOWED:
    "The permission contract of the genesis (`accountPermissions`) does not let the sender send transactions; its owner can allow it.",
  TX_DEPLOYER_NOT_ALLOWED:
    "The permission contract of the genesis (`accountPermissions`) does not let the sender create contracts; its owner can allow it.",
  POOL_SENDER_NOT_ALLOWED: "`mempool.allowed-accounts` of this node does not have the sender.",
  POOL_DEPLOYER_NOT_ALLOWED: "`mempool.allowed-accounts` of this node does not let the sender create contracts.",
  POOL_FULL: "The pool is full, and no transaction can be evicted for this one.",
  POOL_FUTURE_REPLACES_PENDING:
    "The pool is full, and a transaction after a nonce gap must not evict an executable one.",
  POOL_REPLACEMENT_UNDERPRICED:
    "A transaction with this nonce is in the pool, and the new one does not raise both fees enough (by a tenth).",
  TX_NONCE_MISMATCH_TOO_LOW: "The nonce is already used.",
  TX_NONCE_MISMATCH_TOO_HIGH: "The nonce is above the sender's next nonce, and gaps are not allowed here.",
  TX_NONCE_IS_MAX: "The nonce is 2^64 - 1 (EIP-2681).",
  TX_GAS_LIMIT_EXCEEDS_MAXIMUM: "The gas limit is above 2^24 (EIP-7825).",
  TX_GAS_ALLOWANCE_EXCEEDED: "The gas limit exceeds the block gas limit.",
  TX_SENDER_NOT_EOA: "The sender has code (EIP-3607).",
  TX_PRIORITY_GREATER_THAN_MAX_FEE_PER_GAS: "`maxPriorityFeePerGas` is above `maxFeePerGas`.",
  TX_INSUFFICIENT_MAX_FEE_PER_GAS: "`maxFeePerGas` or `gasPrice` is below the base fee of the block.",
  TX_INSUFFICIENT_MAX_FEE_PER_BLOB_GAS: "`maxFeePerBlobGas` is below the blob base fee of the block.",
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
  TX_INTRINSIC_GAS_TOO_LOW: "The gas limit is below the transaction's intrinsic gas.",
  TX_INTRINSIC_GAS_BELOW_FLOOR_GAS_COST: "The gas limit is below the floor for its data (EIP-7623).",
  TX_INVALID_SENDER: "The signature recovers no sender, or one that differs from `from`.",
  TX_INVALID_CHAINID: "The transaction is signed for another chain id.",
};
