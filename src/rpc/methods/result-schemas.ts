import { address, data, hash, type JsonSchema, quantity } from "../transport/codec.ts";

/**
 * JSON Schemas (draft 7) of results whose JSON the method writes itself, by method: for `rpc_discover`, the documentation and the types of
 * `node.rpc`. A method that is not here and whose codec has no schema answers any JSON.
 */

type Members = Readonly<Record<string, JsonSchema | undefined>>;

const BOOLEAN = { type: "boolean" };
const INTEGER = { type: "integer" };
const NULL = { type: "null" };
const ADDRESS = address.schema!;
const DATA = data.schema!;
const HASH = hash.schema!;
const QUANTITY = quantity.schema!;

const listOf = (items: JsonSchema) => ({ type: "array", items });
const mapOf = (additionalProperties: JsonSchema) => ({ type: "object", additionalProperties });
const either = (...oneOf: JsonSchema[]) => ({ oneOf });
const orNull = (schema: JsonSchema) => either(schema, NULL);

/** An object with all of `members`, and some of `optional`. */
function shape(title: string, members: Members, optional: Members = {}): JsonSchema {
  return {
    title,
    type: "object",
    properties: { ...members, ...optional },
    required: Object.keys(members),
  };
}

const ACCESS_LIST = listOf(
  shape("AccessListEntry", { address: ADDRESS, storageKeys: listOf(HASH) }),
);

const AUTHORIZATION = shape("SignedAuthorization", {
  ...{ chainId: QUANTITY, address: ADDRESS, nonce: QUANTITY },
  ...{ yParity: QUANTITY, r: QUANTITY, s: QUANTITY },
});

/** What transactions of all types have. */
const PAYLOAD: Members = {
  ...{ hash: HASH, type: QUANTITY, nonce: QUANTITY, to: orNull(ADDRESS), gas: QUANTITY },
  ...{ value: QUANTITY, input: DATA, v: QUANTITY, r: QUANTITY, s: QUANTITY },
};

/** What transactions of some types have. */
const TYPED_PAYLOAD: Members = {
  ...{ chainId: QUANTITY, yParity: QUANTITY, accessList: ACCESS_LIST },
  ...{ maxFeePerBlobGas: QUANTITY, blobVersionedHashes: listOf(HASH) },
  authorizationList: listOf(AUTHORIZATION),
};

const TRANSACTION = shape(
  "Transaction",
  {
    ...{ blockHash: orNull(HASH), blockNumber: orNull(QUANTITY), blockTimestamp: orNull(QUANTITY) },
    ...{ transactionIndex: orNull(QUANTITY), from: ADDRESS, gasPrice: QUANTITY },
    ...PAYLOAD,
  },
  { maxFeePerGas: QUANTITY, maxPriorityFeePerGas: QUANTITY, ...TYPED_PAYLOAD },
);

const SIGNED_TRANSACTION = shape("SignedTransaction", {
  raw: DATA,
  tx: shape(
    "TransactionPayload",
    {
      gasPrice: orNull(QUANTITY),
      maxFeePerGas: orNull(QUANTITY),
      maxPriorityFeePerGas: orNull(QUANTITY),
      ...PAYLOAD,
    },
    { ...TYPED_PAYLOAD, blobs: listOf(DATA), commitments: listOf(DATA), proofs: listOf(DATA) },
  ),
});

const HEADER_MEMBERS: Members = {
  ...{ number: QUANTITY, hash: orNull(HASH), parentHash: HASH, nonce: orNull(DATA), mixHash: HASH },
  ...{ sha3Uncles: orNull(HASH), logsBloom: DATA, stateRoot: HASH, miner: orNull(ADDRESS) },
  ...{ difficulty: orNull(QUANTITY), extraData: DATA, gasLimit: QUANTITY, gasUsed: QUANTITY },
  ...{ timestamp: QUANTITY, transactionsRoot: HASH, receiptsRoot: HASH },
};

/** What headers have from some hard fork on, and `totalDifficulty` by setting. */
const FORK_MEMBERS: Members = {
  ...{ baseFeePerGas: QUANTITY, withdrawalsRoot: HASH, blobGasUsed: QUANTITY },
  ...{ excessBlobGas: QUANTITY, parentBeaconBlockRoot: HASH, requestsHash: HASH },
  totalDifficulty: NULL,
};

const HEADER = shape("Header", HEADER_MEMBERS, FORK_MEMBERS);

const WITHDRAWAL = shape("Withdrawal", {
  ...{ index: QUANTITY, validatorIndex: QUANTITY, address: ADDRESS, amount: QUANTITY },
});

const BLOCK = shape(
  "Block",
  {
    ...HEADER_MEMBERS,
    ...{ size: QUANTITY, uncles: listOf(HASH) },
    transactions: either(listOf(HASH), listOf(TRANSACTION)),
  },
  { ...FORK_MEMBERS, withdrawals: listOf(WITHDRAWAL) },
);

const UNCLE = shape(
  "Uncle",
  { ...HEADER_MEMBERS, size: QUANTITY, uncles: listOf(HASH) },
  FORK_MEMBERS,
);

const LOG = shape("Log", {
  ...{ address: ADDRESS, topics: listOf(HASH), data: DATA, removed: BOOLEAN },
  ...{ blockHash: HASH, blockNumber: QUANTITY, blockTimestamp: QUANTITY },
  ...{ transactionHash: HASH, transactionIndex: QUANTITY, logIndex: QUANTITY },
});

const RECEIPT = shape(
  "Receipt",
  {
    ...{ blockHash: HASH, blockNumber: QUANTITY, transactionHash: HASH },
    ...{ transactionIndex: QUANTITY, from: ADDRESS, to: orNull(ADDRESS) },
    ...{ gasUsed: QUANTITY, cumulativeGasUsed: QUANTITY, contractAddress: orNull(ADDRESS) },
    ...{ logs: listOf(LOG), logsBloom: DATA, type: QUANTITY, effectiveGasPrice: QUANTITY },
  },
  { status: QUANTITY, root: HASH, blobGasUsed: QUANTITY, blobGasPrice: QUANTITY },
);

const FEE_HISTORY = shape(
  "FeeHistory",
  { oldestBlock: QUANTITY, gasUsedRatio: listOf({ type: "number" }) },
  {
    ...{ baseFeePerGas: listOf(QUANTITY), reward: listOf(listOf(QUANTITY)) },
    ...{ baseFeePerBlobGas: listOf(QUANTITY), blobGasUsedRatio: listOf({ type: "number" }) },
  },
);

const PROOF = shape("AccountProof", {
  ...{ address: ADDRESS, accountProof: listOf(DATA), balance: QUANTITY, codeHash: HASH },
  ...{ nonce: QUANTITY, storageHash: HASH },
  storageProof: listOf(
    shape("StorageProof", { key: { type: "string" }, value: QUANTITY, proof: listOf(DATA) }),
  ),
});

const SYNC_STATUS = either(
  BOOLEAN,
  shape("SyncStatus", { startingBlock: QUANTITY, currentBlock: QUANTITY, highestBlock: QUANTITY }),
);

/** By sender and nonce. */
const POOLED = mapOf(mapOf(TRANSACTION));

export const RESULT_SCHEMAS: Readonly<Record<string, JsonSchema>> = {
  rpc_modules: mapOf({ type: "string" }),
  eth_syncing: SYNC_STATUS,
  eth_feeHistory: FEE_HISTORY,
  eth_getProof: PROOF,
  eth_getStorageValues: mapOf(listOf(HASH)),
  eth_getBlockByNumber: orNull(BLOCK),
  eth_getBlockByHash: orNull(BLOCK),
  eth_getHeaderByNumber: orNull(HEADER),
  eth_getHeaderByHash: orNull(HEADER),
  eth_getBlockReceipts: orNull(listOf(RECEIPT)),
  eth_getTransactionByHash: orNull(TRANSACTION),
  eth_getTransactionByBlockHashAndIndex: orNull(TRANSACTION),
  eth_getTransactionByBlockNumberAndIndex: orNull(TRANSACTION),
  eth_getTransactionbyBlockNumberAndIndex: orNull(TRANSACTION),
  eth_getTransactionBySenderAndNonce: orNull(TRANSACTION),
  eth_getTransactionReceipt: orNull(RECEIPT),
  eth_getUncleByBlockHashAndIndex: orNull(UNCLE),
  eth_getUncleByBlockNumberAndIndex: orNull(UNCLE),
  eth_pendingTransactions: listOf(TRANSACTION),
  eth_getAccount: orNull(
    shape("Account", { balance: QUANTITY, codeHash: HASH, nonce: QUANTITY, storageRoot: HASH }),
  ),
  eth_getAccountInfo: shape("AccountInfo", { balance: QUANTITY, nonce: QUANTITY, code: DATA }),
  eth_createAccessList: shape(
    "AccessListResult",
    { accessList: ACCESS_LIST, gasUsed: QUANTITY },
    { error: { type: "string" } },
  ),
  eth_getLogs: listOf(LOG),
  eth_getFilterLogs: listOf(LOG),
  eth_getFilterChanges: either(listOf(LOG), listOf(HASH)),
  eth_sendRawTransactionSync: RECEIPT,
  eth_signTransaction: SIGNED_TRANSACTION,
  eth_fillTransaction: SIGNED_TRANSACTION,
  txpool_status: shape("PoolStatus", { pending: QUANTITY, queued: QUANTITY }),
  txpool_content: shape("PoolContent", { pending: POOLED, queued: POOLED }),
  txpool_contentFrom: shape("PoolContentOfSender", {
    pending: mapOf(TRANSACTION),
    queued: mapOf(TRANSACTION),
  }),
  txpool_inspect: shape("PoolSummary", {
    pending: mapOf(mapOf({ type: "string" })),
    queued: mapOf(mapOf({ type: "string" })),
  }),
};

/** The result of `evm_mine_detailed`. */
export const MINED_BLOCKS = { schema: listOf(BLOCK) };

/** The result of `hardhat_metadata`. */
export const DEV_METADATA = {
  schema: shape(
    "DevMetadata",
    {
      ...{ clientVersion: { type: "string" }, chainId: INTEGER, instanceId: HASH },
      ...{ latestBlockNumber: INTEGER, latestBlockHash: HASH },
    },
    {
      forkedNetwork: shape("ForkedNetwork", {
        ...{ chainId: INTEGER, forkBlockNumber: INTEGER, forkBlockHash: HASH },
      }),
    },
  ),
};
