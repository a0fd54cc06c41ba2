import { address, data, hash, type JsonSchema, quantity } from "../../transport/codec.ts";

/** JSON Schemas (draft 7) of what methods answer, for `rpc_discover`, the documentation and the types of `node.rpc`. */

type Members = Readonly<Record<string, JsonSchema | undefined>>;

export const BOOLEAN = { type: "boolean" };
export const INTEGER = { type: "integer" };
export const NULL = { type: "null" };
export const ADDRESS = address.schema!;
export const DATA = data.schema!;
export const HASH = hash.schema!;
export const QUANTITY = quantity.schema!;

export const listOf = (items: JsonSchema) => ({ type: "array", items });
export const mapOf = (additionalProperties: JsonSchema) => ({
  type: "object",
  additionalProperties,
});
export const either = (...oneOf: JsonSchema[]) => ({ oneOf });
export const orNull = (schema: JsonSchema) => either(schema, NULL);

/** An object with all of `members`, and some of `optional`. */
export function shape(title: string, members: Members, optional: Members = {}): JsonSchema {
  return {
    title,
    type: "object",
    properties: { ...members, ...optional },
    required: Object.keys(members),
  };
}

export const ACCESS_LIST = listOf(shape("AccessListEntry", { address: ADDRESS, storageKeys: listOf(HASH) }));

const AUTHORIZATION = shape("SignedAuthorization", {
  chainId: QUANTITY,
  address: ADDRESS,
  nonce: QUANTITY,
  yParity: QUANTITY,
  r: QUANTITY,
  s: QUANTITY,
});

/** What transactions of all types have. */
const PAYLOAD: Members = {
  hash: HASH,
  type: QUANTITY,
  nonce: QUANTITY,
  to: orNull(ADDRESS),
  gas: QUANTITY,
  value: QUANTITY,
  input: DATA,
  v: QUANTITY,
  r: QUANTITY,
  s: QUANTITY,
};

/** What transactions of some types have. */
const TYPED_PAYLOAD: Members = {
  chainId: QUANTITY,
  yParity: QUANTITY,
  accessList: ACCESS_LIST,
  maxFeePerBlobGas: QUANTITY,
  blobVersionedHashes: listOf(HASH),
  authorizationList: listOf(AUTHORIZATION),
};

export const TRANSACTION = shape(
  "Transaction",
  {
    blockHash: orNull(HASH),
    blockNumber: orNull(QUANTITY),
    blockTimestamp: orNull(QUANTITY),
    transactionIndex: orNull(QUANTITY),
    from: ADDRESS,
    gasPrice: QUANTITY,
    ...PAYLOAD,
  },
  { maxFeePerGas: QUANTITY, maxPriorityFeePerGas: QUANTITY, ...TYPED_PAYLOAD },
);

export const SIGNED_TRANSACTION = shape("SignedTransaction", {
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
  number: QUANTITY,
  hash: orNull(HASH),
  parentHash: HASH,
  nonce: orNull(DATA),
  mixHash: HASH,
  sha3Uncles: orNull(HASH),
  logsBloom: DATA,
  stateRoot: HASH,
  miner: orNull(ADDRESS),
  difficulty: orNull(QUANTITY),
  extraData: DATA,
  gasLimit: QUANTITY,
  gasUsed: QUANTITY,
  timestamp: QUANTITY,
  transactionsRoot: HASH,
  receiptsRoot: HASH,
};

/** What headers have from some hard fork on, and `totalDifficulty` by setting. */
const FORK_MEMBERS: Members = {
  baseFeePerGas: QUANTITY,
  withdrawalsRoot: HASH,
  blobGasUsed: QUANTITY,
  excessBlobGas: QUANTITY,
  parentBeaconBlockRoot: HASH,
  requestsHash: HASH,
  blockAccessListHash: HASH,
  slotNumber: QUANTITY,
  totalDifficulty: NULL,
};

export const HEADER = shape("Header", HEADER_MEMBERS, FORK_MEMBERS);

const CHANGE = shape("AccessListChange", { index: QUANTITY, value: QUANTITY });

export const ACCOUNT_ACCESS = shape("AccountAccess", {
  address: ADDRESS,
  storageChanges: listOf(
    shape("SlotChanges", {
      key: HASH,
      changes: listOf(shape("SlotChange", { index: QUANTITY, value: HASH })),
    }),
  ),
  storageReads: listOf(HASH),
  balanceChanges: listOf(CHANGE),
  nonceChanges: listOf(CHANGE),
  codeChanges: listOf(shape("CodeChange", { index: QUANTITY, code: DATA })),
});

const WITHDRAWAL = shape("Withdrawal", {
  index: QUANTITY,
  validatorIndex: QUANTITY,
  address: ADDRESS,
  amount: QUANTITY,
});

export const BLOCK = shape(
  "Block",
  {
    ...HEADER_MEMBERS,
    size: QUANTITY,
    uncles: listOf(HASH),
    transactions: either(listOf(HASH), listOf(TRANSACTION)),
  },
  { ...FORK_MEMBERS, withdrawals: listOf(WITHDRAWAL) },
);

export const UNCLE = shape("Uncle", { ...HEADER_MEMBERS, size: QUANTITY, uncles: listOf(HASH) }, FORK_MEMBERS);

export const LOG = shape("Log", {
  address: ADDRESS,
  topics: listOf(HASH),
  data: DATA,
  removed: BOOLEAN,
  blockHash: HASH,
  blockNumber: QUANTITY,
  blockTimestamp: QUANTITY,
  transactionHash: HASH,
  transactionIndex: QUANTITY,
  logIndex: QUANTITY,
});

export const RECEIPT = shape(
  "Receipt",
  {
    blockHash: HASH,
    blockNumber: QUANTITY,
    transactionHash: HASH,
    transactionIndex: QUANTITY,
    from: ADDRESS,
    to: orNull(ADDRESS),
    gasUsed: QUANTITY,
    cumulativeGasUsed: QUANTITY,
    contractAddress: orNull(ADDRESS),
    logs: listOf(LOG),
    logsBloom: DATA,
    type: QUANTITY,
    effectiveGasPrice: QUANTITY,
  },
  { status: QUANTITY, root: HASH, blobGasUsed: QUANTITY, blobGasPrice: QUANTITY },
);

export const FEE_HISTORY = shape(
  "FeeHistory",
  { oldestBlock: QUANTITY, gasUsedRatio: listOf({ type: "number" }) },
  {
    baseFeePerGas: listOf(QUANTITY),
    reward: listOf(listOf(QUANTITY)),
    baseFeePerBlobGas: listOf(QUANTITY),
    blobGasUsedRatio: listOf({ type: "number" }),
  },
);

export const PROOF = shape("AccountProof", {
  address: ADDRESS,
  accountProof: listOf(DATA),
  balance: QUANTITY,
  codeHash: HASH,
  nonce: QUANTITY,
  storageHash: HASH,
  storageProof: listOf(shape("StorageProof", { key: { type: "string" }, value: QUANTITY, proof: listOf(DATA) })),
});

export const SYNC_STATUS = either(
  BOOLEAN,
  shape("SyncStatus", { startingBlock: QUANTITY, currentBlock: QUANTITY, highestBlock: QUANTITY }),
);

/** By sender and nonce. */
export const POOLED = mapOf(mapOf(TRANSACTION));
